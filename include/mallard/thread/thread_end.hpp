// thread_end<End>: calls End(of) when the calling thread ends, even if asked to during the thread's end.
//
//     the thread's function -> destructors of thread_local objects -> destructors of pthread keys
//                                   End(of), and forgotten              else End(of) here
//
// Two mechanisms, because a thread_local object constructed by the destructor of a pthread key is never
// destroyed, while a key set there is processed again, up to PTHREAD_DESTRUCTOR_ITERATIONS times in all. The
// program and each library have one key of their own, and a library stays loaded as long as a thread watches
// with it.
// Cost: a few instructions per watch() after a thread's first.
#pragma once

#include <pthread.h>

#include <atomic>

#include "mallard/core/attributes.hpp"

namespace mallard {

template <void (*End)(void*)>
class MALLARD_HIDDEN thread_end {
 public:
  // Precondition: `of` stays valid as long as the thread runs any code, and is the same each time.
  static void watch(void* of) noexcept {
    static const key_owner owner;
    static thread_local const last_object last(of);
  }

 private:
  struct key_owner {
    key_owner() noexcept { has_key = ::pthread_key_create(&key, End) == 0; }
    ~key_owner() {
      if (has_key.exchange(false)) (void)::pthread_key_delete(key);
    }
  };

  struct last_object {
    void* const of;

    explicit last_object(void* watched) noexcept : of(watched) { set(of); }
    last_object(const last_object&) = delete;
    last_object& operator=(const last_object&) = delete;
    ~last_object() {
      set(nullptr);
      End(of);
    }
  };

  static void set(void* of) noexcept {
    if (has_key) (void)::pthread_setspecific(key, of);
  }

  static inline constinit std::atomic<bool> has_key = false;
  static inline constinit pthread_key_t key = 0;
};

}  // namespace mallard
