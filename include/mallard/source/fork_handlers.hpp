// fork_handlers<Held>: keeps an object that exists once per process intact across fork(), whichever shared
// objects use it.
//
//     fork --> handlers registered later --> Held::before_fork()      locks
//              Held::after_fork(), in the child after_fork_in_child() <-- child and parent
//
// pthread_atfork drops the handlers of a library that is unloaded, so the program and each library register
// their own, before their other static objects. Of all handlers for one object only those registered first
// act: they run last before a fork and first after it, so that later handlers may still use the object.
// Invariant: the list holds the handlers of all loaded shared objects, in the order of registration.
// Cost: none, except at a fork.
#pragma once

#include <pthread.h>

#include <atomic>

#include "mallard/core/attributes.hpp"

namespace mallard {

struct fork_list_entry {
  fork_list_entry* later = nullptr;  // the next that was registered
};

// One for each object that is held, shared like that.
struct fork_list {
  std::atomic<fork_list_entry*> first = nullptr;
  std::atomic<pthread_t> holder{};  // the thread that is forking, while the object is held for it
};

// `Held` has these members, static and noexcept: list(), the fork_list& of the object; own(), the
// fork_handlers& of the calling program or library, a MALLARD_FIRST_OF_ALL MALLARD_HIDDEN variable;
// before_fork(), after_fork() and after_fork_in_child().
template <class Held>
class MALLARD_HIDDEN fork_handlers : fork_list_entry {
 public:
  // Libraries are loaded and unloaded one at a time; a fork may happen at any time.
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

  // The last handlers are never unlinked: threads may still fork during exit().
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
    Held::list().holder = ::pthread_self();
  }

  static void after() noexcept {
    if (ends_holding()) Held::after_fork();
  }

  static void after_in_child() noexcept {
    if (ends_holding()) Held::after_fork_in_child();
  }

  // Whether it was held for this thread; by the time that later handlers ask, another one may be forking.
  static bool ends_holding() noexcept {
    if (Held::list().holder != ::pthread_self()) return false;
    Held::list().holder = pthread_t{};
    return true;
  }
};

}  // namespace mallard
