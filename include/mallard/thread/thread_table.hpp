// thread_table: maps the key of a heap to what the calling thread keeps for that heap; handles how both end.
//
//     this thread:  slots  [key|o] [   ] [key|o] [key|o]      read and written by this thread only
//                               |            |       '-> ended heap: its key is never looked up again
//                               v            v
//                   list   attachment <--> attachment         the live ones
//                               |                             (heaps list theirs, see thread_caches)
//                             heap A
//
// A heap's key is unique in the process, forever. A thread's table maps keys to attachments by open
// addressing: a key's home slot is checked inline, the others out of line. Slots are never emptied; when they
// run short, the table is rebuilt from the thread's list, from which ended heaps have removed their
// attachments. So thousands of live heaps work as well as heaps constructed and destroyed in a loop: the
// table has at most 8 slots per heap that the thread has used while all of them lived, or 256.
// When a thread ends, its attachments are retired under the lock that every end takes. From then on the
// thread attaches to nothing, although its destructors may still use heaps. A thread that attaches in the
// last round of pthread key destructors, after this table's, leaks that attachment.
// A thread that forks keeps its attachments in the child. Those of the other threads are retired, but their
// memory is not written to: the child has copies of their stacks only.
// Invariant: links between lists and attachments are read and written only under `ends_mutex`, the last lock
// in the order: no other is taken while it is held. Slots belong to their thread.
// Cost: find 7 instructions, find_last 4; attach amortised O(1). Up to 4 slots need no memory; more need
// pages of the system, which no heap counts as held. All shared objects of a process share one table per
// thread and one mutex as long as MALLARD_VISIBLE can keep it so. If they do not, keys are unique all the
// same.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/light_mutex.hpp"
#include "mallard/source/fork_handlers.hpp"
#include "mallard/source/os_pages.hpp"
#include "mallard/thread/thread_end.hpp"

namespace mallard {

class thread_table;
struct MALLARD_HIDDEN ends_over_forks;

// Guards the links of all attachments: taken when a thread first uses a heap and when either of them ends,
// at no other time.
MALLARD_VISIBLE inline constinit light_mutex ends_mutex;

// What one thread keeps for one heap, in the heap's memory.
class attachment {
 public:
  // Whether the thread ended, outside the heap, or a fork left it behind, possibly inside the heap.
  enum class end { of_thread, by_fork };
  using retire_function = void (*)(attachment&, end) noexcept;

  attachment() = default;
  attachment(const attachment&) = delete;
  attachment& operator=(const attachment&) = delete;

  // Whether it belongs to a thread. Under ends_mutex.
  [[nodiscard]] bool attached() const noexcept { return thread_ != nullptr; }

  // Whether its neighbours in the thread's list link to it. Under ends_mutex.
  [[nodiscard]] inline bool is_linked() const noexcept;

  // Removes it from its thread, which no longer finds it. Under ends_mutex; precondition: attached().
  inline void detach() noexcept;

 protected:
  ~attachment() = default;

 private:
  friend class thread_table;

  retire_function retire_ = nullptr;
  thread_table* thread_ = nullptr;
  attachment* older_ = nullptr;  // in the thread's list
  attachment* newer_ = nullptr;
  std::uint64_t key_ = 0;
};

// An entry of a table.
struct thread_slot {
  std::uint64_t key = 0;  // 0: empty
  attachment* found = nullptr;
};

class thread_table {
  using slot = thread_slot;

 public:
  constexpr thread_table() = default;
  thread_table(const thread_table&) = delete;
  thread_table& operator=(const thread_table&) = delete;

  // Returns a key that was never returned before.
  [[nodiscard]] static std::uint64_t new_key() noexcept {
    return first_key() + next_key.fetch_add(sizeof(slot), std::memory_order_relaxed);
  }

  // Returns the attachment in the key's home slot, or null.
  [[nodiscard]] MALLARD_INLINE attachment* find(std::uint64_t key) const noexcept {
    const slot& own = *slot_at(key & mask_);
    if (own.key != key) [[unlikely]]
      return nullptr;
    MALLARD_ASSUME(own.found != nullptr);
    return own.found;
  }

  // Returns the attachment that was remembered last if it is the key's, otherwise null.
  [[nodiscard]] MALLARD_INLINE attachment* find_last(std::uint64_t key) const noexcept {
    if (last_.key != key) [[unlikely]]
      return nullptr;
    MALLARD_ASSUME(last_.found != nullptr);
    return last_.found;
  }

  // Lets find_last() find this attachment of the calling thread, until another one is remembered.
  void remember(attachment& a) noexcept { last_ = {a.key_, &a}; }

  // Returns the attachment in any slot, or null, and moves it to the home slot, where find() sees it until
  // another heap with that home slot is searched for. No slot between the two is empty, so a swap hides
  // neither.
  [[nodiscard]] MALLARD_NOINLINE attachment* search(std::uint64_t key) noexcept {
    slot& own = *slot_at(key & mask_);
    for (std::uint64_t at = key & mask_;; at = (at + sizeof(slot)) & mask_) {
      slot& s = *slot_at(at);
      if (s.key == 0) return nullptr;
      if (s.key != key) continue;
      std::swap(s, own);
      return own.found;
    }
  }

  // Makes room for one more attachment; false if there is no memory or the thread is ending.
  [[nodiscard]] MALLARD_HIDDEN bool reserve() noexcept {
    if (ended_) return false;
    watch_end();
    return 2 * (used_ + 1) <= capacity() || make_anew();
  }

  // Adds an attachment of the heap with `key`. `retire` is called when the thread ends, with `ends_mutex`
  // held; it is code of the caller's shared object, which thread_end keeps loaded. Under ends_mutex;
  // precondition: reserve(), and the thread has none for this key.
  void attach(attachment& a, std::uint64_t key, attachment::retire_function retire) noexcept {
    a.thread_ = this;
    a.retire_ = retire;
    a.key_ = key;
    a.newer_ = nullptr;
    a.older_ = newest_;
    if (newest_ != nullptr) newest_->newer_ = &a;
    newest_ = &a;
    ++live_;
    put(a);
  }

  // Detaches an attachment of the calling thread, whose heap lives on, and does not find it any more. Under
  // ends_mutex.
  void detach(attachment& a) noexcept {
    if (search(a.key_) == &a) slot_at(a.key_ & mask_)->key = no_key;
    last_ = {};
    a.detach();
  }

  // Number of slots, for tests.
  [[nodiscard]] std::size_t capacity() const noexcept {
    return static_cast<std::size_t>(mask_ / sizeof(slot)) + 1;
  }

 private:
  friend class attachment;
  friend struct ends_over_forks;

  // In the place of a key that is no longer looked for. No heap has it: keys are multiples of a slot's
  // size.
  static constexpr std::uint64_t no_key = 1;

  static constexpr std::size_t small_capacity = 8;
  static constexpr std::size_t first_capacity = 256;

  // Attachments retired per turn of the lock: the end of a thread with many must not keep others waiting.
  static constexpr int ends_at_once = 16;

  static void end_table(void* ending) { static_cast<thread_table*>(ending)->end(); }

  // Keys are multiples of the size of a slot, so that a masked key is an offset.
  MALLARD_VISIBLE static inline constinit std::atomic<std::uint64_t> next_key{sizeof(slot)};
  static inline constinit slot no_slot{};
  MALLARD_VISIBLE static inline constinit thread_table* newest_table = nullptr;  // under ends_mutex

  // If each shared object has a mutex and a counter of its own, their keys are still apart.
  [[nodiscard]] static std::uint64_t first_key() noexcept {
    const auto copy = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(&ends_mutex));
    return (copy * 0x9E3779B97F4A7C15U) & ~std::uint64_t{0xFFFF};
  }

  [[nodiscard]] MALLARD_INLINE slot* slot_at(std::uint64_t offset) const noexcept {
    return reinterpret_cast<slot*>(reinterpret_cast<std::byte*>(slots_) + offset);
  }

  MALLARD_HIDDEN void watch_end() noexcept {
    thread_end<end_table>::watch(this);
    if (is_listed_) return;
    is_listed_ = true;
    const std::lock_guard lock(ends_mutex);
    older_table_ = newest_table;
    if (older_table_ != nullptr) older_table_->newer_table_ = this;
    newest_table = this;
  }

  // Under ends_mutex.
  void unlist() noexcept {
    if (!is_listed_) return;
    (newer_table_ == nullptr ? newest_table : newer_table_->older_table_) = older_table_;
    if (older_table_ != nullptr) older_table_->newer_table_ = newer_table_;
    is_listed_ = false;
  }

  void put(attachment& a) noexcept {
    std::uint64_t at = a.key_ & mask_;
    while (slot_at(at)->key != 0) at = (at + sizeof(slot)) & mask_;
    *slot_at(at) = {a.key_, &a};
    ++used_;
  }

  // Drops the slots of ended heaps; doubles the table if the live ones need more than a quarter of it.
  MALLARD_NOINLINE bool make_anew() noexcept {
    const bool grows = 4 * (live() + 1) > capacity();
    slot* const old = slots_;
    const std::size_t old_capacity = capacity();
    if (grows && !take_slots(old_capacity < small_capacity ? small_capacity
                                                           : std::max(first_capacity, 2 * old_capacity)))
      return false;
    if (!grows) std::fill_n(slots_, old_capacity, slot{});
    used_ = 0;
    {
      const std::lock_guard lock(ends_mutex);
      for (attachment* a = newest_; a != nullptr; a = a->older_) put(*a);
    }
    if (grows) give_back(old, old_capacity);
    return true;
  }

  [[nodiscard]] std::size_t live() const noexcept {
    const std::lock_guard lock(ends_mutex);
    return live_;
  }

  bool take_slots(std::size_t wanted) noexcept {
    if (wanted == small_capacity) {
      slots_ = small_.data();
    } else {
      const block pages = os_pages().allocate(wanted * sizeof(slot), alignof(slot));
      if (!pages) return false;
      slots_ = static_cast<slot*>(pages.data);
    }
    mask_ = (wanted - 1) * sizeof(slot);
    return true;
  }

  static void give_back(slot* slots, std::size_t capacity) noexcept {
    if (capacity >= first_capacity) os_pages().deallocate(slots, capacity * sizeof(slot), alignof(slot));
  }

  // Returns whether some are left.
  bool end_some() noexcept {
    const std::lock_guard lock(ends_mutex);
    for (int i = 0; i < ends_at_once && newest_ != nullptr; ++i) {
      attachment& ending = *newest_;
      ending.detach();
      ending.retire_(ending, attachment::end::of_thread);
    }
    if (newest_ == nullptr) unlist();
    return newest_ != nullptr;
  }

  // Called in the child of a fork by this thread, under ends_mutex: no other thread exists there.
  void end_others() noexcept {
    for (const thread_table* t = newest_table; t != nullptr; t = t->older_table_) {
      if (t == this) continue;
      for (attachment *a = t->newest_, *older = nullptr; a != nullptr; a = older) {
        older = a->older_;
        a->thread_ = nullptr;
        a->retire_(*a, attachment::end::by_fork);
      }
    }
    newest_table = is_listed_ ? this : nullptr;
    older_table_ = newer_table_ = nullptr;
  }

  void end() noexcept {
    last_ = {};
    while (end_some()) {
    }
    give_back(slots_, capacity());
    slots_ = &no_slot;
    mask_ = 0;
    ended_ = true;
  }

  slot* slots_ = &no_slot;
  std::uint64_t mask_ = 0;        // of offsets, in bytes
  slot last_;                     // what was remembered
  std::size_t used_ = 0;          // slots with a key
  bool ended_ = false;            // the thread runs its last destructors
  bool is_listed_ = false;        // from the first attachment to the end
  attachment* newest_ = nullptr;  // both under ends_mutex, as heaps that end unlink theirs
  std::size_t live_ = 0;
  thread_table* older_table_ = nullptr;  // of all tables with attachments, under ends_mutex as well
  thread_table* newer_table_ = nullptr;
  std::array<slot, small_capacity> small_{};
};

void attachment::detach() noexcept {
  (newer_ == nullptr ? thread_->newest_ : newer_->older_) = older_;
  if (older_ != nullptr) older_->newer_ = newer_;
  --thread_->live_;
  thread_ = nullptr;
}

bool attachment::is_linked() const noexcept {
  if (thread_ == nullptr) return true;
  return (newer_ == nullptr ? thread_->newest_ : newer_->older_) == this &&
         (older_ == nullptr || older_->newer_ == this);
}

// The calling thread's table. Constant-initialised and trivially destroyed, so that it can be read without a
// guard as long as the thread runs any code.
MALLARD_VISIBLE inline constinit thread_local thread_table this_threads_table;

MALLARD_VISIBLE inline constinit fork_list forks_of_tables;

// Leaves a child with the lock free and no attachment of a thread that does not exist there.
struct MALLARD_HIDDEN ends_over_forks {
  static fork_list& list() noexcept { return forks_of_tables; }
  static fork_handlers<ends_over_forks>& own() noexcept;
  static void before_fork() noexcept { ends_mutex.lock(); }
  static void after_fork() noexcept { ends_mutex.unlock(); }
  static void after_fork_in_child() noexcept {
    this_threads_table.end_others();
    ends_mutex.unlock();
  }
};

MALLARD_FIRST_OF_ALL MALLARD_HIDDEN inline fork_handlers<ends_over_forks> table_fork_handlers;

inline fork_handlers<ends_over_forks>& ends_over_forks::own() noexcept { return table_fork_handlers; }

}  // namespace mallard
