// thread_caches: a heap of blocks of a few sizes for many threads, each with a cache of its own.
//
//     thread 1: cache  <--blocks--  refill: a returned batch, or new ones  <--+
//     thread 2: cache  --batches->  returned_batches of the list (no lock)    +-- Central, under the lock
//     a thread without a cache: one block at a time  -------------------------+
//
// Central is an unsynchronised heap. Its blocks of list i have a size, or are a little larger, that the
// caller names together with the list, at least returned_batches::least_block; all lie in its chunk_ranges().
// Lists below Cached are kept in caches, the others go straight to the returned batches. A Central that is
// `trimmable` and `freeable`, as it gives memory back, gets batches that leave a cache itself, under the
// lock, and what waits as returned batches along with them: those of the list, or all where more than
// `most_returned` wait. Freeing takes no lock but there: only the first use of the heap by a thread does.
// A cache is made when a thread first uses the heap, kept when the thread ends and given to the next one, so
// there are as many as threads have used the heap at the same time. Its blocks go back as batches when its
// thread ends, or by flush(). It is lost memory to other threads until then, at most 2 * batch_blocks(size)
// blocks a list.
// Invariant: a block that Central has handed out is the caller's, in one cache or in one returned batch.
// Lock order: the heap's mutex, locks of upstreams, ends_mutex. Cost: as thread_table, thread_cache and
// returned_batches say; one lock a refill.
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
#include "mallard/core/usage.hpp"
#include "mallard/layer/address_ranges.hpp"
#include "mallard/layer/growth.hpp"
#include "mallard/layer/shared_chunks.hpp"
#include "mallard/layer/singles.hpp"
#include "mallard/source/upstream_ref.hpp"
#include "mallard/thread/returned_batches.hpp"
#include "mallard/thread/thread_cache.hpp"
#include "mallard/thread/thread_table.hpp"

namespace mallard {

// Blocks that move between a thread and the others at once: few enough bytes that what caches keep stays
// small, enough blocks that a lock and what it costs other threads is a small share of each.
[[nodiscard]] constexpr std::int32_t batch_blocks(std::size_t size) noexcept {
  return static_cast<std::int32_t>(std::clamp<std::size_t>(4096 / size, 1, 32));
}

// What a thread gets at first: as many as fill a line of the processor's caches, so that first blocks of
// two threads are rarely in one.
[[nodiscard]] constexpr std::int32_t first_blocks(std::size_t size) noexcept {
  return static_cast<std::int32_t>(std::max<std::size_t>(cache_line / size, 1));
}

// A heap that is told of every block that is free, so that memory goes back.
template <class Central>
concept takes_back = trimmable<Central> && freeable<Central>;

template <heap Central, std::size_t Lists, std::size_t Cached, class Mutex>
class alignas(cache_line) thread_caches {
  static_assert(Cached <= Lists);

 public:
  // Returned batches that wait for their size where Central would take them back: 64 KiB at the most.
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

  // To be used under the lock, or with other threads quiet.
  [[nodiscard]] Central& central() noexcept { return central_; }
  [[nodiscard]] const Central& central() const noexcept { return central_; }
  [[nodiscard]] std::lock_guard<Mutex> lock() const noexcept { return std::lock_guard(mutex_); }

  // The inline part of allocate: a block that is in the calling thread's list, or null.
  [[nodiscard]] MALLARD_INLINE void* reuse(std::size_t list) noexcept {
    cache* const mine = as_cache(this_threads_table.find(key_));
    return mine == nullptr ? nullptr : mine->lists.pop(list);
  }

  // The inline part of deallocate: false if it has done nothing.
  [[nodiscard]] MALLARD_INLINE bool reclaim(std::size_t list, void* p) noexcept {
    cache* const mine = as_cache(this_threads_table.find(key_));
    return mine != nullptr && mine->lists.push(list, p);
  }

  // A block of the list, whose blocks have `size` bytes at `align`; null when Central is exhausted.
  [[nodiscard]] void* allocate(std::size_t list, std::size_t size, std::size_t align) noexcept {
    cache* const mine = list < Cached ? search() : nullptr;
    if (mine != nullptr)
      if (void* const p = mine->lists.take(list); p != nullptr) return p;
    return allocate_from_all(mine, list, size, align);
  }

  void deallocate(std::size_t list, void* p, std::size_t size) noexcept {
    cache* mine = list < Cached ? search() : nullptr;
    if (mine == nullptr && list < Cached) mine = attach();
    if (mine == nullptr) return returned_.push(list, batch::of(p));
    if (mine->lists.push(list, p)) return;
    if (const batch leaving = mine->lists.make_room(list, batch_blocks(size))) give(list, leaving);
    (void)mine->lists.push(list, p);
  }

  // Gives the calling thread's blocks to all.
  void flush() noexcept {
    if (cache* const mine = search(); mine != nullptr) flush(*mine);
  }

  // Gives all blocks back to Central, with other threads quiet; caches stay with their threads.
  void give_back() noexcept
    requires takes_back<Central>
  {
    {
      const std::lock_guard guard(*ends_);
      for (cache* c = newest_; c != nullptr; c = c->older) flush(*c);
    }
    const auto guard = lock();
    (void)settle();
  }

  // Gives Central all returned batches; false where there are none. Under the lock.
  bool settle() noexcept
    requires takes_back<Central>
  {
    bool given = false;
    for (std::size_t i = 0; i < Lists; ++i) given = give_returned(i) || given;
    return given;
  }

  // Forgets all blocks, with other threads quiet; caches stay with their threads.
  void forget() noexcept {
    const std::lock_guard guard(*ends_);
    returned_.clear();
    for (cache* c = newest_; c != nullptr; c = c->older) c->lists = {};
  }

  // As new, with other threads quiet: no block and no cache.
  void release() noexcept {
    detach_all();
    returned_.clear();
    store_.release();
    key_ = thread_table::new_key();
  }

  // Bytes that caches take, from Central's upstream.
  [[nodiscard]] std::size_t held() const noexcept { return store_.held(); }

  [[nodiscard]] bool owns(const void* p) const noexcept {
    const std::lock_guard guard(mutex_);
    return central_.owns(p) || store_.owns(p);
  }

  // Blocks of a list that wait in caches and as returned batches.
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

  // Calls f(block) for each block of a list that waits in a cache or as one of a returned batch.
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
  // Alignment keeps what two threads write in different lines of the processor's caches.
  struct alignas(cache_line) cache final : attachment {
    explicit cache(thread_caches& h) noexcept : heap(h) {}

    thread_cache<Cached> lists;
    thread_caches& heap;
    cache* older = nullptr;    // of the heap's
    cache* idle = nullptr;     // the next that no thread has
    bool left_behind = false;  // with blocks, idle
  };

  static cache* as_cache(attachment* a) noexcept { return static_cast<cache*>(a); }

  [[nodiscard]] MALLARD_INLINE cache* search() const noexcept {
    attachment* const found = this_threads_table.find(key_);
    return as_cache(found != nullptr ? found : this_threads_table.search(key_));
  }

  // A cache for the calling thread; null where there is no memory or the thread runs its last destructors.
  // Nor is there one in a shared object whose threads have other tables than the one that made the heap.
  MALLARD_NOINLINE cache* attach() noexcept {
    if (ends_ != &ends_mutex) return nullptr;
    if (!this_threads_table.reserve()) return nullptr;
    if (cache* const idle = attach_idle(); idle != nullptr) return idle;
    // An upstream that attaches this thread as well may use up what was reserved.
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

  // A batch that a cache has no room for.
  MALLARD_NOINLINE void give(std::size_t list, batch leaving) noexcept {
    if constexpr (takes_back<Central>) {
      const auto guard = lock();
      end(leaving);
      (void)give_returned(list);
      settle_what_is_too_much();
    } else {
      returned_.push(list, leaving);
    }
  }

  // Under the lock, as what follows.
  void settle_what_is_too_much() noexcept {
    if constexpr (takes_back<Central>)
      if (returned_.count() > most_returned) (void)settle();
  }
  bool give_returned(std::size_t list) noexcept {
    bool given = false;
    for (; const batch waiting = returned_.pop(list); given = true) end(waiting);
    return given;
  }
  void end(batch blocks) noexcept {
    for (chain::node* p = blocks.first; p != nullptr;) central_.deallocate(std::exchange(p, p->next));
  }

  // At the end of its thread, under ends_mutex. One that a fork has left behind keeps its blocks until a
  // thread takes it: a child that wants nothing of the heap must not depend on what its threads were doing,
  // nor copy pages.
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

  // A block that is new, or given back by others; `mine` is the thread's cache, null where it has none.
  MALLARD_NOINLINE void* allocate_from_all(cache* mine, std::size_t list, std::size_t size,
                                           std::size_t align) noexcept {
    const std::int32_t most = batch_blocks(size);
    const std::int32_t first = list < Cached ? first_blocks(size) : 1;
    const batch given =
        obtain(list, size, align, mine == nullptr ? first : mine->lists.wish(list, first, most));
    if (!given) return nullptr;
    if (mine == nullptr && list < Cached) mine = attach();  // not before: what fails must change nothing
    if (mine == nullptr) {
      if (given.count > 1) returned_.push(list, {given.first->next, given.count - 1});
      return given.first;
    }
    mine->lists.refill(list, given, most);
    return mine->lists.pop(list);
  }

  // A returned batch; of blocks that threads without a cache have freed one by one, up to `wished`.
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

  // A returned batch, or up to `wished` new blocks; empty when there is none.
  batch obtain(std::size_t list, std::size_t size, std::size_t align, std::int32_t wished) noexcept {
    const std::lock_guard guard(mutex_);
    if (const batch returned = pop_returned(list, wished)) return returned;
    chain carved;
    const auto most = static_cast<std::size_t>(wished);
    settle_what_is_too_much();
    // Where Central has not that many, it may have some. One that has blocks of any size has a place for each
    // that suits it best, and would cut a run from large free memory.
    if constexpr (!burst_of_sizes<Central>)
      if (2 < most && singles::least <= size)
        (void)central_.allocate_burst(carved, most, size, align, most * size);
    while (carved.size() < most) {
      const block b = central_.allocate(size, align);
      if (!b) break;
      carved.push_back(b.data);
    }
    return {static_cast<chain::node*>(carved.front()), carved.size()};
  }

  // The caches and returned batches of a list, of whose blocks Central has handed out so many.
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

  std::uint64_t key_;  // read by every call, written by none: apart from what is
  light_mutex* ends_;  // of the tables that its caches are attached to
  alignas(cache_line) mutable Mutex mutex_;
  Central central_;
  shared_chunks<upstream_ref<typename Central::upstream_type>, doubling<1024, 8192>>
      store_;                // of caches, under the lock
  cache* newest_ = nullptr;  // these two under ends_mutex
  cache* idle_ = nullptr;
  returned_lists<Lists, takes_back<Central>> returned_;
};

}  // namespace mallard
