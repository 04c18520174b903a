// thread_caches: makes an unsynchronised heap of a few block sizes usable by many threads, with a cache each.
//
//     thread 1: cache  <--blocks--  refill: a returned batch, or new ones  <--+
//     thread 2: cache  --batches->  returned_batches of the list (no lock)    +-- Central, under the lock
//     a thread without a cache: one block at a time  -------------------------+
//
// Central is the unsynchronised heap. Its blocks of list i have the size that the caller names together with
// the list, or slightly more; at least returned_batches::least_block; all lie in its chunk_ranges(). Lists
// below Cached are kept in caches; blocks of the others go straight to the returned batches.
// Freeing takes no lock, except when a thread first uses the heap, or where Central returns memory as soon as
// blocks are freed (`takes_back`). Such a Central gets each batch that leaves a cache under the lock,
// together with the returned batches of that list, or with all of them if more than `most_returned` wait.
// A cache is created when a thread first uses the heap; when the thread ends it is kept for the next thread,
// so there are as many caches as threads have used the heap at the same time. Its blocks become returned
// batches when its thread ends or calls flush(). Until then other threads cannot use them: at most
// 2 * batch_blocks(size) blocks per list.
// Invariant: each block that Central has handed out is the caller's, or in one cache, or in one returned
// batch.
// Lock order: the heap's mutex, locks of upstreams, ends_mutex. Cost: as thread_table, thread_cache and
// returned_batches; one lock per refill.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/growth.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/layer/address_ranges.hpp"
#include "mallard/layer/shared_chunks.hpp"
#include "mallard/source/upstream_ref.hpp"
#include "mallard/thread/returned_batches.hpp"
#include "mallard/thread/thread_cache.hpp"
#include "mallard/thread/thread_table.hpp"

namespace mallard {

// Blocks per batch: few enough bytes that caches stay small, enough blocks that the lock, and what it costs
// other threads, is a small share of the cost of each.
[[nodiscard]] constexpr std::int32_t batch_blocks(std::size_t size) noexcept {
  return static_cast<std::int32_t>(std::clamp<std::size_t>(4096 / size, 1, 32));
}

// Blocks of a thread's first refill: as many as fill a cache line, so that two threads' first blocks rarely
// share one.
[[nodiscard]] constexpr std::int32_t first_blocks(std::size_t size) noexcept {
  return static_cast<std::int32_t>(std::max<std::size_t>(cache_line / size, 1));
}

// A heap that returns memory to its upstream as blocks are freed, and so must see every free.
template <class Central>
concept takes_back = trimmable<Central> && freeable<Central>;

template <heap Central, std::size_t Lists, std::size_t Cached, class Mutex>
class alignas(cache_line) thread_caches {
  static_assert(Cached <= Lists);

 public:
  // Returned batches that may wait if Central takes blocks back: at most 64 KiB.
  static constexpr std::ptrdiff_t most_returned = 16;

  template <class... Args>
    requires std::constructible_from<Central, Args...>
  explicit thread_caches(Args&&... args)
      : key_(thread_table::new_key()),
        ends_(&ends_mutex),
        central_(std::forward<Args>(args)...),
        store_(central_.upstream()) {}
  thread_caches(const thread_caches&) = delete;
  thread_caches& operator=(const thread_caches&) = delete;
  ~thread_caches() { detach_all(); }

  // Precondition: the lock is held, or no other thread uses the heap.
  [[nodiscard]] Central& central() noexcept { return central_; }
  [[nodiscard]] const Central& central() const noexcept { return central_; }
  [[nodiscard]] std::lock_guard<Mutex> lock() const noexcept { return std::lock_guard(mutex_); }

  // The inline part of allocating: a block of the calling thread's list, or null.
  [[nodiscard]] MALLARD_INLINE void* allocate_fast(std::size_t list) noexcept {
    cache* const mine = as_cache(this_threads_table.find(key_));
    return mine == nullptr ? nullptr : mine->lists.pop(list);
  }

  // The inline part of freeing: returns false if it has done nothing.
  [[nodiscard]] MALLARD_INLINE bool deallocate_fast(std::size_t list, void* p) noexcept {
    cache* const mine = as_cache(this_threads_table.find(key_));
    return mine != nullptr && mine->lists.push(list, p);
  }

  // Returns a block of the list, whose blocks have `size` bytes at `align`; null if Central is exhausted.
  [[nodiscard]] void* allocate_slow(std::size_t list, std::size_t size, std::size_t align) noexcept {
    cache* const mine = list < Cached ? search() : nullptr;
    if (mine != nullptr)
      if (void* const p = mine->lists.take(list); p != nullptr) return p;
    return allocate_from_all(mine, list, size, align);
  }

  void deallocate_slow(std::size_t list, void* p, std::size_t size) noexcept {
    cache* mine = list < Cached ? search() : nullptr;
    if (mine == nullptr && list < Cached) mine = attach();
    if (mine == nullptr) return returned_.push(list, batch::of(p));
    if (mine->lists.push(list, p)) return;
    if (const batch leaving = mine->lists.make_room(list, batch_blocks(size))) give(list, leaving);
    (void)mine->lists.push(list, p);
  }

  // Makes the calling thread's cached blocks available to all threads.
  void flush() noexcept {
    if (cache* const mine = search(); mine != nullptr) flush(*mine);
  }

  // Returns all blocks to Central; caches stay with their threads. Precondition: other threads are quiet.
  void take_back_all() noexcept
    requires takes_back<Central>
  {
    {
      const std::lock_guard guard(*ends_);
      for (cache* c = newest_; c != nullptr; c = c->older) flush(*c);
    }
    const auto guard = lock();
    (void)take_back_returned();
  }

  // Returns all returned batches to Central; false if there are none. Under the lock.
  bool take_back_returned() noexcept
    requires takes_back<Central>
  {
    bool given = false;
    for (std::size_t i = 0; i < Lists; ++i) given = take_back(i) || given;
    return given;
  }

  // Forgets all blocks; caches stay with their threads. Precondition: other threads are quiet.
  void forget() noexcept {
    const std::lock_guard guard(*ends_);
    returned_.clear();
    for (cache* c = newest_; c != nullptr; c = c->older) c->lists = {};
  }

  // Forgets all blocks and caches. Precondition: other threads are quiet.
  void release() noexcept {
    detach_all();
    returned_.clear();
    store_.release();
    key_ = thread_table::new_key();
  }

  // Bytes of the caches themselves, from Central's upstream.
  [[nodiscard]] std::size_t held() const noexcept { return store_.held(); }

  [[nodiscard]] bool owns(const void* p) const noexcept {
    const std::lock_guard guard(mutex_);
    return central_.owns(p) || store_.owns(p);
  }

  // Blocks of a list in caches and returned batches.
  [[nodiscard]] std::size_t unused(std::size_t list) const noexcept {
    const std::lock_guard guard(*ends_);
    std::size_t blocks = 0;
    returned_.for_each(list, [&](batch b) {
      blocks += b.count;
      return true;
    });
    if (list < Cached)
      for (const cache* c = newest_; c != nullptr; c = c->older) blocks += c->lists.count(list);
    return blocks;
  }

  // Calls f(block) for each block of a list in a cache or a returned batch.
  template <class F>
  void each_unused(std::size_t list, F f) const noexcept {
    const std::lock_guard guard(*ends_);
    returned_.for_each(list, [&](batch b) {
      for (const void* p = b.first; p != nullptr; p = chain::next(p)) f(p);
      return true;
    });
    if (list < Cached)
      for (const cache* c = newest_; c != nullptr; c = c->older) c->lists.each(list, f);
  }

  // `handed_out(list)`: blocks of a list that Central has handed out. O(free blocks log chunks).
  template <class F>
  [[nodiscard]] violation validate(F handed_out) const noexcept {
    if (violation v = central_.validate()) return v;
    if (violation v = store_.validate()) return v;
    const address_ranges chunks = central_.chunk_ranges();
    const std::lock_guard guard(*ends_);
    for (std::size_t i = 0; i < Lists; ++i)
      if (violation v = validate(i, handed_out(i), chunks)) return v;
    return {};
  }

 private:
  // Aligned so that two threads never write to the same cache line.
  struct alignas(cache_line) cache final : attachment {
    explicit cache(thread_caches& h) noexcept : heap(h) {}

    thread_cache<Cached> lists;
    thread_caches& heap;
    cache* older = nullptr;    // in the list of the heap's caches
    cache* idle = nullptr;     // the next cache without a thread
    bool left_behind = false;  // idle with blocks, by a fork
  };

  static cache* as_cache(attachment* a) noexcept { return static_cast<cache*>(a); }

  [[nodiscard]] MALLARD_INLINE cache* search() const noexcept {
    attachment* const found = this_threads_table.find(key_);
    return as_cache(found != nullptr ? found : this_threads_table.search(key_));
  }

  // Returns a cache for the calling thread; null if there is no memory, if the thread runs its last
  // destructors, or in a shared object with other thread tables than the one that constructed the heap.
  MALLARD_NOINLINE cache* attach() noexcept {
    if (ends_ != &ends_mutex) return nullptr;
    if (!this_threads_table.reserve()) return nullptr;
    if (cache* const idle = attach_idle(); idle != nullptr) return idle;
    // An upstream that attaches this thread too may have used what was reserved.
    if (!make_idle() || !this_threads_table.reserve()) return nullptr;
    return attach_idle();
  }

  cache* attach_idle() noexcept {
    const std::lock_guard guard(*ends_);
    if (idle_ == nullptr) return nullptr;
    cache* const taken = std::exchange(idle_, idle_->idle);
    if (std::exchange(taken->left_behind, false)) flush(*taken);
    this_threads_table.attach(*taken, key_, retire);
    return taken;
  }

  bool make_idle() noexcept {
    std::byte* const place = place_for_cache();
    if (place == nullptr) return false;
    auto* const made = ::new (place) cache(*this);
    const std::lock_guard guard(*ends_);
    made->older = std::exchange(newest_, made);
    made->idle = std::exchange(idle_, made);
    return true;
  }

  std::byte* place_for_cache() noexcept {
    const std::lock_guard guard(mutex_);
    return store_.cut(0, alignof(cache), sizeof(cache), 1).begin;
  }

  // Passes on a batch that a cache has no room for.
  MALLARD_NOINLINE void give(std::size_t list, batch leaving) noexcept {
    if constexpr (takes_back<Central>) {
      const auto guard = lock();
      take_back(leaving);
      (void)take_back(list);
      take_back_surplus();
    } else {
      returned_.push(list, leaving);
    }
  }

  // Under the lock, like the next two.
  void take_back_surplus() noexcept {
    if constexpr (takes_back<Central>)
      if (returned_.count() > most_returned) (void)take_back_returned();
  }
  bool take_back(std::size_t list) noexcept {
    bool given = false;
    for (; const batch waiting = returned_.pop(list); given = true) take_back(waiting);
    return given;
  }
  void take_back(batch blocks) noexcept {
    for (chain::node* p = blocks.first; p != nullptr;) central_.deallocate(std::exchange(p, p->next));
  }

  // Called when its thread ends, under ends_mutex. A cache that a fork has left behind keeps its blocks until
  // a thread takes it over: a child that does not use the heap must not depend on what the other threads were
  // doing, nor copy pages.
  static void retire(attachment& ending, attachment::end end) noexcept {
    cache& c = static_cast<cache&>(ending);
    if (end == attachment::end::of_thread)
      c.heap.flush(c);
    else
      c.left_behind = true;
    c.idle = std::exchange(c.heap.idle_, &c);
  }

  void flush(cache& c) noexcept {
    c.lists.drain([this](std::size_t list, batch given) { returned_.push(list, given); });
  }

  void detach_all() noexcept {
    const std::lock_guard guard(*ends_);
    for (cache* c = newest_; c != nullptr; c = c->older)
      if (c->attached()) c->detach();
    newest_ = nullptr;
    idle_ = nullptr;
  }

  // Returns a new or returned block; `mine` is the thread's cache, null if it has none.
  MALLARD_NOINLINE void* allocate_from_all(cache* mine, std::size_t list, std::size_t size,
                                           std::size_t align) noexcept {
    const std::int32_t most = batch_blocks(size);
    const std::int32_t first = list < Cached ? first_blocks(size) : 1;
    const batch given =
        obtain(list, size, align, mine == nullptr ? first : mine->lists.wish(list, first, most));
    if (!given) return nullptr;
    if (mine == nullptr && list < Cached)
      mine = attach();  // not earlier: a failed request must change nothing
    if (mine == nullptr) {
      if (given.count > 1) returned_.push(list, {given.first->next, given.count - 1});
      return given.first;
    }
    mine->lists.refill(list, given, most);
    return mine->lists.pop(list);
  }

  // Removes a returned batch; of blocks that threads without a cache have freed one by one, up to `wished`.
  batch pop_returned(std::size_t list, std::int32_t wished) noexcept {
    batch gathered = returned_.pop(list);
    while (gathered && gathered.count < static_cast<std::size_t>(wished)) {
      const batch more = returned_.pop_single(list);
      if (!more) break;
      more.first->next = gathered.first;
      gathered = {more.first, gathered.count + 1};
    }
    return gathered;
  }

  // Removes a returned batch, or allocates up to `wished` blocks; empty if there are none.
  batch obtain(std::size_t list, std::size_t size, std::size_t align, std::int32_t wished) noexcept {
    const std::lock_guard guard(mutex_);
    if (const batch returned = pop_returned(list, wished)) return returned;
    chain carved;
    const auto most = static_cast<std::size_t>(wished);
    take_back_surplus();
    // If Central has not that many, it may have some. Small blocks are cheap one by one. A Central of blocks
    // of any size is asked for each block: it finds the best place for each, but would cut a burst from large
    // free memory.
    if constexpr (!burst_of_sizes<Central>)
      if (2 < most && 2 * cache_line <= size)
        (void)central_.allocate_burst(carved, most, size, align, most * size);
    while (carved.size() < most) {
      const block b = central_.allocate(size, align);
      if (!b) break;
      carved.push_back(b.data);
    }
    return {static_cast<chain::node*>(carved.front()), carved.size()};
  }

  // Checks the caches and returned batches of a list; Central has handed out `handed_out` of its blocks.
  [[nodiscard]] violation validate(std::size_t list, std::size_t handed_out,
                                   const address_ranges& chunks) const noexcept {
    violation found;
    std::size_t blocks = 0;
    const auto is_block = [&](const void* p) { return ++blocks <= handed_out && chunks.contains(p); };
    returned_.for_each(list, [&](batch b) {
      std::size_t length = 0;
      for (const void* p = b.first; p != nullptr && !found; p = chain::next(p), ++length)
        if (!is_block(p)) found = {"thread_caches: a returned block is none of the heap's, or twice there"};
      if (!found && length != b.count) found = {"thread_caches: a returned batch is not as long as it says"};
      return !found;
    });
    if (list < Cached)
      for (const cache* c = newest_; c != nullptr && !found; c = c->older) {
        found = c->lists.validate(list, is_block);
        if (!c->is_linked()) found = {"thread_caches: a cache is not in its thread's list"};
      }
    return found;
  }

  std::uint64_t key_;  // read by every call, written by none: in another cache line than what is written
  light_mutex* ends_;  // of the thread tables that its caches are attached to
  alignas(cache_line) mutable Mutex mutex_;
  Central central_;
  shared_chunks<upstream_ref<typename Central::upstream_type>, doubling<1024, 8192>>
      store_;                // of caches, under the lock
  cache* newest_ = nullptr;  // both under ends_mutex
  cache* idle_ = nullptr;
  returned_lists<Lists, takes_back<Central>> returned_;
};

}  // namespace mallard
