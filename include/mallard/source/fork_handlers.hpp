// fork_handlers<Held>: keeps what a process has once whole over fork(), in whatever shared objects it is
// used.
//
//     fork --> handlers registered later --> Held::before_fork()      locks
//              Held::after_fork(), in the child after_fork_in_child() <-- child and parent
//
// pthread_atfork forgets the handlers of a library that is unloaded, so the program and each library have
// their own, made before their other static objects. Of all handlers over one thing those act that were
// registered first: they are called last before a fork and first after it, so that handlers which are
// registered later may still use it.
// Invariant: the list has the handlers of what is loaded, in the order of registration.
// Cost: nothing but at a fork.
#pragma once

#include <pthread.h>

#include <atomic>

#include "mallard/core/attributes.hpp"

namespace mallard {

struct fork_list_entry {
  fork_list_entry* later = nullptr;  // the next that was registered
};

// Shared by all who share what is held.
struct fork_list {
  std::atomic<fork_list_entry*> first = nullptr;
  bool is_held = false;  // by a thread that is forking
};

// `Held` has, all static and noexcept: list(), the fork_list& beside what is held; own(), the fork_handlers&
// of the program or library that calls it, a MALLARD_FIRST_OF_ALL MALLARD_HIDDEN variable; before_fork(),
// after_fork() and after_fork_in_child().
template <class Held>
class MALLARD_HIDDEN fork_handlers : fork_list_entry {
 public:
  // Libraries are loaded and unloaded one at a time; a fork may come at any time.
  fork_handlers() noexcept {
    if (::pthread_atfork(before, after, after_in_child) != 0) return;
    fork_list_entry* last = Held::list().first;
    while (last != nullptr && last->later != nullptr) last = last->later;
    if (last != nullptr)
      last->later = this;
    else
      Held::list().first = this;
  }
  fork_handlers(const fork_handlers&) = delete;
  fork_handlers& operator=(const fork_handlers&) = delete;

  // The last ones stay first: where the process ends, its threads may fork to the very end.
  ~fork_handlers() {
    fork_list_entry* earlier = Held::list().first;
    if (earlier == this) {
      if (later != nullptr) Held::list().first = later;
      return;
    }
    while (earlier != nullptr && earlier->later != this) earlier = earlier->later;
    if (earlier != nullptr) earlier->later = later;
  }

 private:
  static void before() noexcept {
    fork_list_entry* const own = &Held::own();
    if (Held::list().first != own) return;
    Held::before_fork();
    Held::list().is_held = true;
  }

  static void after() noexcept {
    if (!Held::list().is_held) return;
    Held::list().is_held = false;
    Held::after_fork();
  }

  static void after_in_child() noexcept {
    if (!Held::list().is_held) return;
    Held::list().is_held = false;
    Held::after_fork_in_child();
  }
};

}  // namespace mallard
