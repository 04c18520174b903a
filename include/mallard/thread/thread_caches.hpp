// thread_caches: makes an unsynchronised heap of a few block sizes usable by many threads, with a cache each.
//
//     thread 1: cache  <--batches--  refill: a returned batch, or new blocks  <--+
//     thread 2: cache  --batches-->  Central, or returned_batches (no lock)      +-- Central, under the lock
//     a thread without a cache: one block at a time  ----------------------------+
//
// Central is the unsynchronised heap. Its blocks of list i have the size that the caller names together with
// the list, or slightly more; at least returned_batches::least_block; all lie in its chunk_ranges(). Lists
// below Cached are kept in caches; blocks of the others go straight to the returned batches.
// Freeing waits for no lock, except for the memory of a cache and of its magazines, of which each list has a
// short one at first and then a longer one, or where Central returns memory as soon as blocks are freed
// (`takes_back`). Such a Central gets each batch that leaves a cache under the lock, together with the
// returned batches of that list, or with all of them if more than `most_returned` wait. A Central that keeps
// freed blocks in order (`keeps_batches`) gets batches if the lock is free at that moment. Otherwise they
// become returned batches, which the next refill of the list uses, and which Central gets when it has nothing
// else.
// A cache is created when a thread first uses the heap; when the thread ends it is kept for the next thread,
// so there are as many caches as threads have used the heap at the same time. Its blocks become returned
// batches when its thread ends or calls flush(). Until then other threads cannot use them: at most
// 2 * batch_blocks(size) blocks per list.
// Invariant: each block that Central has handed out is the caller's, or in one cache, or in one returned
// batch.
// Lock order: the heap's mutex, locks of upstreams, ends_mutex. Cost: as thread_table, thread_cache and
// returned_batches; one lock per refill, and one per batch that Central gets.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <utility>

#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/growth.hpp"
#include "mallard/core/magazine.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/layer/address_ranges.hpp"
#include "mallard/layer/shared_chunks.hpp"
#include "mallard/source/upstream_ref.hpp"
#include "mallard/thread/attached_parts.hpp"
#include "mallard/thread/returned_batches.hpp"
#include "mallard/thread/thread_cache.hpp"

namespace mallard {

// A heap that returns memory to its upstream as blocks are freed, and so must see every free.
template <class Central>
concept takes_back = trimmable<Central> && freeable<Central>;

template <heap Central, std::size_t Lists, std::size_t Cached, class Mutex>
class alignas(cache_line) thread_caches {
  static_assert(Cached <= Lists);
  static constexpr bool sees_frees = takes_back<Central> || keeps_batches<Central>;
  using slot = magazine::slot;

 public:
  // Returned batches that may wait if Central takes blocks back: of blocks up to 4 KiB, at most 64 KiB.
  static constexpr std::ptrdiff_t most_returned = 16;

  template <class... Args>
    requires std::constructible_from<Central, Args...>
  explicit thread_caches(Args&&... args)
      : central_(std::forward<Args>(args)...), store_(central_.upstream()) {}
  thread_caches(const thread_caches&) = delete;
  thread_caches& operator=(const thread_caches&) = delete;
  ~thread_caches() { caches_.detach_all(); }

  // Precondition: the lock is held, or no other thread uses the heap.
  [[nodiscard]] Central& central() noexcept { return central_; }
  [[nodiscard]] const Central& central() const noexcept { return central_; }
  [[nodiscard]] std::lock_guard<Mutex> lock() const noexcept { return std::lock_guard(mutex_); }

  // The inline part of allocating: a block of the calling thread's list, or null.
  [[nodiscard]] MALLARD_INLINE void* allocate_fast(std::size_t list) noexcept {
    cache* const mine = caches_.find();
    return mine == nullptr ? nullptr : mine->lists.pop(list);
  }

  // The inline part of freeing: returns false if it has done nothing.
  [[nodiscard]] MALLARD_INLINE bool deallocate_fast(std::size_t list, void* p) noexcept {
    cache* const mine = caches_.find();
    return mine != nullptr && mine->lists.push(list, p);
  }

  // Returns a block of the list, whose blocks have `size` bytes at `align`; null if Central is exhausted.
  [[nodiscard]] void* allocate_slow(std::size_t list, std::size_t size, std::size_t align) noexcept {
    cache* const mine = list < Cached ? caches_.search() : nullptr;
    if (mine == nullptr) return allocate_first(nullptr, list, size, align, first_blocks(size));
    if (void* const p = mine->lists.pop(list); p != nullptr) return p;
    const std::size_t most = batch_blocks(size);
    const std::size_t wished = mine->lists.wish(list, first_blocks(size), most);
    if (mine->lists.batch_of(list) != most) return allocate_first(mine, list, size, align, wished);
    mine->lists.refill(list, obtain(list, size, align, mine->lists.refill_end(list), wished));
    return mine->lists.pop(list);
  }

  void deallocate_slow(std::size_t list, void* p, std::size_t size) noexcept {
    cache* mine = list < Cached ? caches_.search() : nullptr;
    if (mine == nullptr && list < Cached) mine = attach();
    if (mine == nullptr) return returned_.push(list, batch::of(p));
    if (keep(*mine, list, p, size)) return;
    if (!mine->lists.is_open(list)) return returned_.push(list, batch::of(p));
    give(list, mine->lists.oldest(list));
    mine->lists.drop_oldest(list);
    (void)mine->lists.push(list, p);
  }

  // Makes the calling thread's cached blocks available to all threads.
  void flush() noexcept {
    if (cache* const mine = caches_.search(); mine != nullptr) flush(*mine);
  }

  // Returns all blocks to Central; caches stay with their threads. Precondition: other threads are quiet.
  void take_back_all() noexcept
    requires sees_frees
  {
    {
      const auto guard = caches_.lock();
      for (cache* c = caches_.newest(); c != nullptr; c = caches_.older(*c)) flush(*c);
    }
    const auto guard = lock();
    (void)take_back_returned();
  }

  // Returns all returned batches to Central; false if there are none. Under the lock.
  bool take_back_returned() noexcept
    requires sees_frees
  {
    bool given = false;
    for (std::size_t i = 0; i < Lists; ++i) given = take_back(i) || given;
    return given;
  }

  // Forgets all blocks; caches stay with their threads. Precondition: other threads are quiet.
  void forget() noexcept {
    const auto guard = caches_.lock();
    returned_.clear();
    for (cache* c = caches_.newest(); c != nullptr; c = caches_.older(*c)) c->lists.forget();
  }

  // Forgets all blocks and caches. Precondition: other threads are quiet.
  void release() noexcept {
    caches_.detach_all();
    returned_.clear();
    store_.release();
  }

  // Bytes of the caches themselves, from Central's upstream.
  [[nodiscard]] std::size_t held() const noexcept { return store_.held(); }

  [[nodiscard]] bool owns(const void* p) const noexcept {
    const std::lock_guard guard(mutex_);
    return central_.owns(p) || store_.owns(p);
  }

  // Blocks of a list in caches and returned batches.
  [[nodiscard]] std::size_t unused(std::size_t list) const noexcept {
    const auto guard = caches_.lock();
    std::size_t blocks = 0;
    returned_.for_each(list, [&](batch b) {
      blocks += b.count;
      return true;
    });
    if (list < Cached)
      for (const cache* c = caches_.newest(); c != nullptr; c = caches_.older(*c))
        blocks += c->lists.count(list);
    return blocks;
  }

  // Calls f(block) for each block of a list in a cache or a returned batch.
  template <class F>
  void each_unused(std::size_t list, F f) const noexcept {
    const auto guard = caches_.lock();
    returned_.for_each(list, [&](batch b) {
      for (const void* p = b.first; p != nullptr; p = chain::next(p)) f(p);
      return true;
    });
    if (list < Cached)
      for (const cache* c = caches_.newest(); c != nullptr; c = caches_.older(*c)) c->lists.each(list, f);
  }

  // `handed_out(list)`: blocks of a list that Central has handed out. O(free blocks log chunks).
  template <class F>
  [[nodiscard]] violation validate(F handed_out) const noexcept {
    if (violation v = central_.validate()) return v;
    if (violation v = store_.validate()) return v;
    const address_ranges chunks = central_.chunk_ranges();
    const auto guard = caches_.lock();
    for (std::size_t i = 0; i < Lists; ++i)
      if (violation v = validate(i, handed_out(i), chunks)) return v;
    return {};
  }

 private:
  // Aligned so that two threads never write to the same cache line.
  struct alignas(cache_line) cache final : listed_part<cache> {
    explicit cache(thread_caches& h) noexcept : heap(h) {}

    thread_cache<Cached> lists;
    thread_caches& heap;
    bool left_behind = false;  // idle with blocks, by a fork
  };

  // Returns a cache for the calling thread; null if it cannot have one.
  MALLARD_NOINLINE cache* attach() noexcept {
    return caches_.attach([this] { return make(); },
                          [this](cache& taken) {
                            if (std::exchange(taken.left_behind, false)) flush(taken);
                          },
                          retire);
  }

  cache* make() noexcept {
    std::byte* const place = place_for(alignof(cache), sizeof(cache));
    return place == nullptr ? nullptr : ::new (place) cache(*this);
  }

  std::byte* place_for(std::size_t align, std::size_t bytes) noexcept {
    const std::lock_guard guard(mutex_);
    return store_.cut(0, align, bytes, 1).begin;
  }

  // As thread_cache's.
  bool widen(cache& mine, std::size_t list, std::size_t size) noexcept {
    return mine.lists.widen(list, size, places());
  }
  bool keep(cache& mine, std::size_t list, void* p, std::size_t size) noexcept {
    return mine.lists.keep(list, p, size, places());
  }
  auto places() noexcept {
    return [this](std::size_t align, std::size_t bytes) { return place_for(align, bytes); };
  }

  // Passes on blocks that a cache has no room for.
  MALLARD_NOINLINE void give(std::size_t list, std::span<const slot> leaving) noexcept {
    if constexpr (takes_back<Central>) {
      const auto guard = lock();
      give_central(list, leaving);
      (void)take_back(list);
      return take_back_surplus();
    } else if constexpr (keeps_batches<Central>) {
      if (const std::unique_lock guard(mutex_, std::try_to_lock); guard.owns_lock())
        return give_central(list, leaving);
    }
    returned_.push(list, batch::of(leaving));
  }

  // Under the lock, like the next two.
  void take_back_surplus() noexcept {
    if constexpr (takes_back<Central>)
      if (returned_.count() > most_returned) (void)take_back_returned();
  }
  bool take_back(std::size_t list) noexcept {
    bool given = false;
    std::array<slot, most_batch_blocks> blocks;
    for (; const batch waiting = returned_.pop(list); given = true) {
      slot* const end = blocks.data() + blocks.size();
      give_central(list, {end - waiting.count, waiting.spread(end)});
    }
    return given;
  }
  void give_central(std::size_t list, std::span<const slot> blocks) noexcept {
    if constexpr (keeps_batches<Central>)
      central_.deallocate_batch(list, blocks);
    else
      for (const slot block : blocks) central_.deallocate(reinterpret_cast<void*>(block));
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
    c.heap.caches_.retired(c);
  }

  void flush(cache& c) noexcept {
    c.lists.drain(
        [this](std::size_t list, std::span<const slot> blocks) { returned_.push(list, batch::of(blocks)); });
  }

  // As allocate_slow, for a list that has not yet room for two batches; `mine` is the thread's cache, null if
  // it has none.
  MALLARD_NOINLINE void* allocate_first(cache* mine, std::size_t list, std::size_t size, std::size_t align,
                                        std::size_t wished) noexcept {
    std::array<slot, most_batch_blocks> blocks;
    slot* const end = blocks.data() + blocks.size();
    const std::size_t count = obtain(list, size, align, end, list < Cached ? wished : 1);
    if (count == 0) return nullptr;
    if (mine == nullptr && list < Cached)
      mine = attach();  // not earlier: a failed request must change nothing
    slot* rest = end - count;
    slot* const newest = end - 1;
    if (mine != nullptr) {
      if (!mine->lists.is_open(list)) (void)widen(*mine, list, size);
      while (rest != newest && keep(*mine, list, reinterpret_cast<void*>(*rest), size)) ++rest;
    }
    if (rest != newest) returned_.push(list, batch::of({rest, newest}));
    return reinterpret_cast<void*>(*newest);
  }

  // Writes blocks below `end`, the one to be used first on top: those of a returned batch, at most
  // batch_blocks(size), or up to `wished` of Central's. Returns their number; 0 if there are none.
  std::size_t obtain(std::size_t list, std::size_t size, std::size_t align, slot* end,
                     std::size_t wished) noexcept {
    const std::lock_guard guard(mutex_);
    if (const std::size_t returned = take_returned(list, end, wished); returned != 0) return returned;
    if constexpr (keeps_batches<Central>) {
      const std::size_t taken = central_.allocate_batch(list, end, wished);
      return taken != 0 || !take_back_returned() ? taken : central_.allocate_batch(list, end, wished);
    } else {
      return allocate_new(size, align, end, wished);
    }
  }

  // A returned batch; of blocks that threads without a cache have freed one by one, up to `wished`.
  std::size_t take_returned(std::size_t list, slot* end, std::size_t wished) noexcept {
    std::size_t taken = returned_.pop(list).spread(end);
    while (0 < taken && taken < wished) {
      const batch more = returned_.pop_single(list);
      if (!more) break;
      taken += more.spread(end - taken);
    }
    return taken;
  }

  std::size_t allocate_new(std::size_t size, std::size_t align, slot* end, std::size_t wished) noexcept {
    chain carved;
    take_back_surplus();
    // If Central has not that many, it may have some. Small blocks are cheap one by one. A Central of blocks
    // of any size is asked for each block: it finds the best place for each, but would cut a burst from large
    // free memory.
    if constexpr (!burst_of_sizes<Central>)
      if (2 < wished && 2 * cache_line <= size)
        (void)central_.allocate_burst(carved, wished, size, align, wished * size);
    while (carved.size() < wished) {
      const block b = central_.allocate(size, align);
      if (!b) break;
      carved.push_back(b.data);
    }
    return batch{static_cast<chain::node*>(carved.front()), carved.size()}.spread(end);
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
      for (const cache* c = caches_.newest(); c != nullptr && !found; c = caches_.older(*c)) {
        found = c->lists.validate(list, is_block);
        if (!c->is_linked()) found = {"thread_caches: a cache is not in its thread's list"};
      }
    return found;
  }

  attached_parts<cache> caches_;  // its key is read by every call: in another cache line than what is written
  alignas(cache_line) mutable Mutex mutex_;
  Central central_;
  shared_chunks<upstream_ref<typename Central::upstream_type>, doubling<1024, 8192>>
      store_;  // of caches, under the lock
  returned_lists<Lists, takes_back<Central>> returned_;
};

}  // namespace mallard
