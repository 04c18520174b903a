// thread_heap<Heap>: the unsynchronised heap of one thread, with magazines in front, and what returns to it.
//
//     allocate <--[ magazine ]<-- what has returned, otherwise Heap          a batch at a time
//     free     -->[ magazine ]--> the caller, who sorts: own blocks --> Heap, others' --> their thread_heap
//                                                         |
//     any thread, no lock --> [ returned, by list ] ------'--> Heap, before it refuses at the latest
//
// Its thread alone uses it, but for give(): that is for blocks of its own that another thread has freed.
// What has returned serves the list that it is of when a magazine of that is empty. Heap gets all of it when
// it has fetched pages since the last time, so that other lists find room, or now and then, or has no memory
// left. Blocks of lists have the sizes of classes. Those that no class serves pass through, and return one by
// one. What Heap grants beyond the size that callers know is counted, so that usage() is exact where Heap
// reports received sizes. Heap stands on thread_pages, which it constructs from an origin, and which count
// its requests. Invariant: each block that Heap has handed out is a caller's, in a magazine of some thread,
// or waits here. Cost: as magazines', else O(blocks moved). Seed 003, section 8.2.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <span>

#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/magazine.hpp"
#include "mallard/core/size_classes.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/thread/owned_pages.hpp"
#include "mallard/thread/returned_blocks.hpp"
#include "mallard/thread/thread_cache.hpp"

namespace mallard {

// From 16 bytes, as a freed block holds two words. Each class is a list in every thread's cache.
using thread_heap_classes = size_classes<8, 128, 4, 65536, carried_blocks::least_block>;

namespace detail {

// The thread_pages that a heap stands on.
template <class Heap>
struct thread_pages_below {
  using type = typename thread_pages_below<typename Heap::upstream_type>::type;
};
template <heap Upstream, class Mutex>
struct thread_pages_below<thread_pages<Upstream, Mutex>> {
  using type = thread_pages<Upstream, Mutex>;
};

// The classes of a heap of lists that are taken from and given to in batches; those named for others.
template <class Heap, class Named>
struct thread_heap_classes_of {
  using type = Named;
};
template <keeps_batches Heap, class Named>
struct thread_heap_classes_of<Heap, Named> {
  using type = typename Heap::classes;
};

}  // namespace detail

// `Classes`: the sizes of lists; those of Heap itself if it keeps_batches.
template <heap Heap, class Classes = thread_heap_classes>
class alignas(cache_line) thread_heap : public page_owner {
 public:
  using slot = magazine::slot;
  using heap_type = Heap;
  using pages = typename detail::thread_pages_below<Heap>::type;
  using classes = typename detail::thread_heap_classes_of<Heap, Classes>::type;
  static_assert(classes::size(classes::index(1, 1)) >= carried_blocks::least_block);
  static_assert(std::constructible_from<Heap, typename pages::origin>);

  // Size of the largest block that magazines keep, and the lists that have one. A larger one is worth a
  // lookup of its owner.
  static constexpr std::size_t largest_cached = std::min<std::size_t>(8192, classes::largest);
  static constexpr std::size_t cached = classes::index(largest_cached, 1) + 1;

  // Refills after which Heap takes back whatever has returned.
  static constexpr std::size_t refills_between = 64;

  explicit thread_heap(typename pages::shared& from) : heap_(typename pages::origin{from, *this}) {}
  thread_heap(const thread_heap&) = delete;
  thread_heap& operator=(const thread_heap&) = delete;

  [[nodiscard]] Heap& heap() noexcept { return heap_; }
  [[nodiscard]] const Heap& heap() const noexcept { return heap_; }

  // The magazines; those of lists below `cached` are used.
  [[nodiscard]] MALLARD_INLINE thread_cache<cached>& lists() noexcept { return lists_; }
  [[nodiscard]] const thread_cache<cached>& lists() const noexcept { return lists_; }

  // Size with which Heap is asked for a block that no class serves, so that it can wait.
  [[nodiscard]] static constexpr std::size_t large_size(std::size_t size) noexcept {
    return std::max(size, returned_large::least_block);
  }

  // A block, and others that fill or open its magazine, for which `place_for(align, bytes)` provides memory,
  // or null.
  template <class PlaceFor>
  [[nodiscard]] block allocate(std::size_t size, std::size_t align, PlaceFor place_for) noexcept {
    if (!classes::serves(size, align)) return allocate_large(large_size(size), align);
    const std::size_t list = classes::index(size, align);
    if (list >= cached) return allocate_of_list(list);
    void* p = lists_.pop(list);
    if (p == nullptr) p = refill(list, place_for);
    return {p, p == nullptr ? 0 : classes::size(list)};
  }

  // A block, and no others for the magazines.
  [[nodiscard]] block allocate_alone(std::size_t size, std::size_t align) noexcept {
    if (!classes::serves(size, align)) return allocate_large(large_size(size), align);
    const std::size_t list = classes::index(size, align);
    void* const p = list < cached ? lists_.pop(list) : nullptr;
    return p != nullptr ? block{p, classes::size(list)} : allocate_of_list(list);
  }

  // Own blocks of a list go back to Heap.
  void deallocate_own(std::size_t list, std::span<const slot> blocks) noexcept {
    if constexpr (keeps_batches<Heap>) {
      heap_.deallocate_batch(list, blocks);
    } else {
      const std::size_t size = classes::size(list);
      for (const slot block : blocks)
        deallocate_own(reinterpret_cast<void*>(block), size, classes::natural_align(size));
    }
  }

  // So does an own block that no class serves, of large_size().
  void deallocate_own(void* p, std::size_t size, std::size_t align) noexcept {
    const std::size_t told = told_size(size, align);
    slack_ -= granted(p, told) - told;
    heap_.deallocate(p, size, align);
  }

  // Own blocks of a list, at most a batch, or one that no class serves, that are to wait. Any thread.
  void give(std::size_t list, std::span<const slot> blocks) noexcept {
    carried_blocks given;
    given.push(blocks, classes::size(list));
    returned_[list].push(given);
  }
  void give(void* p, std::size_t size, std::size_t align) noexcept { returned_large_.push(p, size, align); }

  // Gives Heap what has returned; false if nothing has.
  bool take_back() noexcept {
    refills_ = 0;
    requests_seen_ = requests;
    bool is_any = take_back_large();
    std::array<slot, most_batch_blocks> blocks;
    for (std::size_t i = 0; i < classes::count; ++i)
      for (std::size_t count = 0; (count = take_returned(i, &blocks.back() + 1, blocks.size())) != 0;) {
        deallocate_own(i, std::span<const slot>(blocks).last(count));
        is_any = true;
      }
    return is_any;
  }

  // Lets the next refill take back first.
  void take_back_soon() noexcept { refills_ = refills_between; }

  // Forgets the blocks of magazines, and those that wait: Heap ends them all. Precondition: others are quiet.
  void forget() noexcept {
    lists_.forget();
    taken_.fill({});
    for (returned_blocks& blocks : returned_) blocks.clear();
    returned_large_.clear();
    slack_ = 0;
  }

  // What is in use of what Heap has, if blocks of lists that nobody uses count as such. Precondition, here
  // and below: others are quiet.
  [[nodiscard]] heap_usage usage() const noexcept {
    heap_usage found = heap_.usage();
    std::size_t waiting = 0;
    returned_large_.for_each(
        [&](const returned_large::returned& r) { waiting += told_size(r.size, r.align); });
    found.carved -= waiting;
    found.granted -= waiting + slack_;
    return found;
  }

  // Calls f(p) for each block of a list that waits, until one call returns false.
  template <class F>
  void for_each_waiting(std::size_t list, F f) const noexcept {
    taken_[list].for_each(classes::size(list), f);
    returned_[list].peek().for_each(classes::size(list), f);
  }

  // Received size of a block that no class serves; any size if Heap does not predict it: what is asked for.
  [[nodiscard]] std::size_t told_size(std::size_t size, std::size_t align) const noexcept {
    if constexpr (predictable<Heap>)
      return heap_.received_size(size, align);
    else
      return size;
  }

 private:
  // A block for a list whose magazine is empty; others fill that, or open it.
  template <class PlaceFor>
  void* refill(std::size_t list, PlaceFor place_for) noexcept {
    const std::size_t size = classes::size(list);
    const std::size_t wished = lists_.wish(list, first_blocks(size), batch_blocks(size));
    if (lists_.batch_of(list) == batch_blocks(size)) [[likely]] {
      lists_.refill(list, obtain(list, lists_.refill_end(list), wished));
      return lists_.pop(list);
    }
    std::array<slot, most_batch_blocks> blocks;
    const std::span<const slot> taken = obtain(list, blocks, wished);
    if (taken.empty()) return nullptr;
    if (!lists_.is_open(list)) (void)lists_.widen(list, size, place_for);
    const std::span<const slot> rest = taken.first(taken.size() - 1);
    std::size_t kept = 0;
    while (kept != rest.size() && lists_.keep(list, reinterpret_cast<void*>(rest[kept]), size, place_for))
      ++kept;
    if (kept != rest.size()) deallocate_own(list, rest.subspan(kept));
    return reinterpret_cast<void*>(taken.back());
  }

  // A block of a list, past its magazine.
  block allocate_of_list(std::size_t list) noexcept {
    std::array<slot, most_batch_blocks> blocks;
    const std::span<const slot> taken = obtain(list, blocks, 1);
    if (taken.empty()) return {};
    return {reinterpret_cast<void*>(taken.back()), classes::size(list)};
  }

  block allocate_large(std::size_t size, std::size_t align) noexcept {
    (void)take_back_large();
    const block b = allocate_new(size, align);
    return b || !take_back() ? b : allocate_new(size, align);
  }

  std::span<const slot> obtain(std::size_t list, std::array<slot, most_batch_blocks>& blocks,
                               std::size_t wished) noexcept {
    slot* const end = blocks.data() + blocks.size();
    const std::size_t count = obtain(list, end, wished);
    return {end - count, count};
  }

  // Writes up to `wished` blocks below `end`, the one to be used first on top: those that have returned, or
  // otherwise Heap's. Returns their number; 0 if there are none.
  std::size_t obtain(std::size_t list, slot* end, std::size_t wished) noexcept {
    if (const std::size_t taken = take_returned(list, end, wished); taken != 0) return taken;
    if (requests != requests_seen_ || ++refills_ >= refills_between) [[unlikely]]
      (void)take_back();
    const std::size_t taken = allocate_new(list, end, wished);
    return taken != 0 || !take_back() ? taken : allocate_new(list, end, wished);
  }

  std::size_t take_returned(std::size_t list, slot* end, std::size_t most) noexcept {
    carried_blocks& taken = taken_[list];
    if (taken.empty() && !returned_[list].empty()) returned_[list].take_all(taken);
    return taken.take(end, most);
  }

  bool take_back_large() noexcept {
    if (returned_large_.empty()) return false;
    returned_large_.take_all(
        [this](void* p, std::size_t size, std::size_t align) { deallocate_own(p, size, align); });
    return true;
  }

  std::size_t allocate_new(std::size_t list, slot* end, std::size_t wished) noexcept {
    if constexpr (keeps_batches<Heap>) {
      return heap_.allocate_batch(list, end, wished);
    } else {
      const std::size_t size = classes::size(list);
      std::size_t taken = 0;
      while (taken != wished) {
        const block b = allocate_new(size, classes::natural_align(size));
        if (!b) break;
        *(end - ++taken) = address_of(b.data);
      }
      return taken;
    }
  }

  block allocate_new(std::size_t size, std::size_t align) noexcept {
    const block b = heap_.allocate(size, align);
    if (!b) return {};
    const std::size_t told = told_size(size, align);
    slack_ += granted(b.data, told) - told;
    return {b.data, told};
  }

  // What Heap counts as granted for a block of which its user knows `told` bytes.
  std::size_t granted(const void* p, std::size_t told) const noexcept {
    if constexpr (measurable<Heap> && !predictable<Heap>)
      return heap_.usable_size(p);
    else
      return told;
  }

  thread_cache<cached> lists_;
  std::size_t refills_ = 0;  // since it took back what had returned, and the requests until then
  std::size_t requests_seen_ = 0;
  std::size_t slack_ = 0;  // bytes that Heap has granted beyond what its callers know of
  Heap heap_;
  std::array<carried_blocks, classes::count> taken_{};  // of what has returned, for magazines
  // Written by other threads.
  alignas(cache_line) std::array<returned_blocks, classes::count> returned_;
  returned_large returned_large_;
};

}  // namespace mallard
