// stacks: what threads stand on, mapped in before anything is measured, so that a thread's start takes no
// page from the system.
//
//     W threads at once | each touches its stack | end | W other threads have the same stacks, touched
//
// The C library keeps 40 MiB of stacks of threads that ended, and of each what is near its top: with stacks
// of the usual 8 MiB a sixth thread has a fresh one.
#pragma once

#include <pthread.h>

#include <cstddef>

namespace mallard::bench {

inline constexpr std::size_t stack_of_thread = std::size_t{512} * 1024;  // bytes; 64 of them are 32 MiB

// Of threads that are made from here on.
inline void make_stacks_small() noexcept {
  ::pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, stack_of_thread);
  ::pthread_setattr_default_np(&attributes);
  ::pthread_attr_destroy(&attributes);
}

// The 16 KiB below the caller that outlive its thread.
inline void touch_stack() noexcept {
  constexpr std::size_t page = 4096;
  volatile std::byte room[4 * page];
  for (std::size_t i = 0; i < sizeof(room); i += page) room[i] = std::byte{};
}

}  // namespace mallard::bench
