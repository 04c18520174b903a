// attached_parts<Part>: what each thread has of one heap, while the thread lives and after it.
//
//     thread 1 --> part <-+             made when a thread first uses the heap
//     thread 2 --> part <-+-- all
//                  part <-+-- idle      its thread has ended: for the next thread
//
// There are as many parts as threads have used the heap at the same time. A thread takes the part that became
// idle last, which may still be in a cache of the processor. A thread that cannot attach one, as it runs its
// last destructors or has other thread tables than the library that constructed the heap, may borrow an idle
// one for an operation. Parts are the caller's: it makes them, and ends them when all are detached.
// Invariant: each part is its thread's, idle, or borrowed. Links are read and written under ends_mutex, the
// last lock in the order. Cost: find() as thread_table's, the rest O(1) beside the lock, except for what
// visits all parts.
#pragma once

#include <cstdint>
#include <mutex>
#include <utility>

#include "mallard/core/attributes.hpp"
#include "mallard/core/light_mutex.hpp"
#include "mallard/thread/thread_table.hpp"

namespace mallard {

// A base of Part.
template <class Part>
class listed_part : public attachment {
  template <class>
  friend class attached_parts;

  Part* older_ = nullptr;  // of all parts
  Part* idle_ = nullptr;   // the next one without a thread
};

template <class Part>
class attached_parts {
 public:
  attached_parts() noexcept : key_(thread_table::new_key()), ends_(&ends_mutex) {}
  attached_parts(const attached_parts&) = delete;
  attached_parts& operator=(const attached_parts&) = delete;

  // The calling thread's part; null if it has none, or by find(), if it is not where it is looked for first.
  [[nodiscard]] MALLARD_INLINE Part* find() const noexcept {
    return static_cast<Part*>(this_threads_table.find(key_));
  }
  [[nodiscard]] MALLARD_INLINE Part* search() const noexcept {
    attachment* const found = this_threads_table.find(key_);
    return static_cast<Part*>(found != nullptr ? found : this_threads_table.search(key_));
  }

  // The same, if it was remembered last by the thread's table.
  [[nodiscard]] MALLARD_INLINE Part* find_last() const noexcept {
    return static_cast<Part*>(this_threads_table.find_last(key_));
  }

  // Gives the calling thread, which has none, an idle part or one that `make()` makes; null if there is no
  // memory or the thread cannot have one. `taken(part)` is called under ends_mutex, and so is `retire` when
  // the thread ends, which passes the part to retired().
  template <class Make, class Taken>
  [[nodiscard]] Part* attach(Make make, Taken taken, attachment::retire_function retire) noexcept {
    if (!can_attach()) return nullptr;
    if (Part* const idle = attach_idle(taken, retire); idle != nullptr) return idle;
    Part* const made = make();
    if (made == nullptr) return nullptr;
    add(*made);
    // An upstream that attaches this thread too may have used what was reserved.
    return can_attach() ? attach_idle(taken, retire) : nullptr;
  }

  // The same, but null if no part is idle.
  template <class Taken>
  [[nodiscard]] Part* attach_if_idle(Taken taken, attachment::retire_function retire) noexcept {
    return can_attach() ? attach_idle(taken, retire) : nullptr;
  }

  // A part that was made elsewhere, without a thread.
  void add(Part& made) noexcept {
    const auto guard = lock();
    made.older_ = std::exchange(newest_, &made);
    retired(made);
  }

  // Makes the calling thread's part idle, after `ending(part)` under ends_mutex; nothing if it has none.
  template <class F>
  void give_up(F ending) noexcept {
    Part* const mine = search();
    if (mine == nullptr) return;
    const auto guard = lock();
    ending(*mine);
    this_threads_table.detach(*mine);
    retired(*mine);
  }

  // Under ends_mutex: a part whose thread has ended.
  void retired(Part& part) noexcept { part.idle_ = std::exchange(idle_, &part); }

  // An idle part for one operation of a thread that has none; null if no part is idle.
  [[nodiscard]] Part* borrow() noexcept {
    const auto guard = lock();
    return pop_idle();
  }
  void give_back(Part& borrowed) noexcept {
    const auto guard = lock();
    retired(borrowed);
  }

  // Ends what threads know of the parts, and forgets them all. Precondition: other threads are quiet.
  void detach_all() noexcept {
    const auto guard = lock();
    for (Part* p = newest_; p != nullptr; p = p->older_)
      if (p->attached()) p->detach();
    newest_ = nullptr;
    idle_ = nullptr;
    key_ = thread_table::new_key();
  }

  // ends_mutex, for a walk over the parts, or while parts are given to threads.
  [[nodiscard]] std::lock_guard<light_mutex> lock() const noexcept { return std::lock_guard(*ends_); }

  // The newest part, null if there is none, and the one that was made before another. Under the lock.
  [[nodiscard]] Part* newest() const noexcept { return newest_; }
  [[nodiscard]] static Part* older(const Part& than) noexcept { return than.older_; }

 private:
  template <class Taken>
  Part* attach_idle(Taken taken, attachment::retire_function retire) noexcept {
    const auto guard = lock();
    Part* const found = pop_idle();
    if (found == nullptr) return nullptr;
    taken(*found);
    this_threads_table.attach(*found, key_, retire);
    return found;
  }

  // False if the thread runs its last destructors, in a shared object with other thread tables than the one
  // that constructed this, or if there is no memory for its table.
  bool can_attach() const noexcept { return ends_ == &ends_mutex && this_threads_table.reserve(); }

  Part* pop_idle() noexcept { return idle_ == nullptr ? nullptr : std::exchange(idle_, idle_->idle_); }

  std::uint64_t key_;       // read by every call, and written by none but detach_all()
  light_mutex* ends_;       // of the thread tables that the parts are attached to
  Part* newest_ = nullptr;  // both under the lock
  Part* idle_ = nullptr;
};

}  // namespace mallard
