// synchronized_best_fit: a best_fit for many threads, each with a cache of its own for small blocks.
//
//     thread 1 --> cache [24] [40] ... [1000]  <--batches--+
//     thread 2 --> cache [24] [40] ... [1000]  <--batches--+--> best_fit, under a lock --> Upstream
//     above 1000 bytes, resizes, bursts:  one lock each  --+
//
// Any thread may free what another has allocated. A small block that has not grown goes into the freeing
// thread's cache, under the size in its tag, and from there in batches back to the best_fit, which coalesces
// it with its neighbours; at most 64 KiB of batches from ended threads wait. So memory freed in one size or
// by one thread serves any other. A cache keeps at most two batches per size, a batch being at most 32 blocks
// of what fits into 4 KiB, and takes 1.5 KiB itself, and up to 0.7 KiB for each size that its thread uses. A
// thread's blocks return when it ends, by flush(), or when memory runs out. A cached block blocks the growth
// of its neighbours.
// Everything else works as in best_fit, each operation under one lock: expansion both ways, shrinking, bursts
// and frees of any block; usable_size() takes no lock. trim() empties and ends all caches.
// Threads: allocate, deallocate, resize, the bursts, usable_size, owns and flush may run at any time;
// everything else, construction and destruction only while the other threads are quiet or ending. Forks and
// shared objects: as synchronized_multipool.
// Invariant: a block in a cache or batch is a used block of the best_fit, and its tag has the size of its
// list, or a granule more. Cost of a pair on one thread: 36 instructions for a block of known size, 46
// otherwise, 64 through std::pmr (gcc 12 -O2, callgrind, loop overhead subtracted); above the cached sizes
// the lock's and best_fit's. Seed 001, chapters 1 and 2; seed 000, section 4 (synchronised flavours).
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/boundary_tag.hpp"
#include "mallard/core/chain.hpp"
#include "mallard/core/check.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/growth.hpp"
#include "mallard/core/light_mutex.hpp"
#include "mallard/core/resize.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/heap/best_fit.hpp"
#include "mallard/heap/best_fit/free_blocks.hpp"
#include "mallard/source/default_source.hpp"
#include "mallard/thread/thread_caches.hpp"

namespace mallard {

// `Mutex` suits std::lock_guard; its lock() does not throw.
template <heap Upstream = default_source, growth_policy Growth = best_fit_growth,
          std::size_t Largest = best_fit_largest, class Mutex = light_mutex>
class basic_synchronized_best_fit {
  using central = basic_best_fit<Upstream, Growth, Largest>;

 public:
  using upstream_type = Upstream;

  static constexpr bool is_concurrent = true;
  static constexpr resize_way ways = central::ways;

  // Size of the largest block that caches keep.
  static constexpr std::size_t largest_cached =
      free_blocks::small - boundary_tag::granule - boundary_tag::overhead;
  static_assert(largest_cached < Largest);

  template <class... Args>
    requires constructible_as_root<Upstream, Args...>
  explicit basic_synchronized_best_fit(Args&&... args) : caches_(std::forward<Args>(args)...) {}
  basic_synchronized_best_fit(const basic_synchronized_best_fit&) = delete;
  basic_synchronized_best_fit& operator=(const basic_synchronized_best_fit&) = delete;
  ~basic_synchronized_best_fit() { MALLARD_VALIDATE(); }

  // Not synchronised. Memory that is allocated from the upstream directly remains the caller's.
  [[nodiscard]] upstream_type& upstream() noexcept { return caches_.central().upstream(); }
  [[nodiscard]] const upstream_type& upstream() const noexcept { return caches_.central().upstream(); }

  [[nodiscard]] MALLARD_INLINE block allocate(std::size_t size, std::size_t align) noexcept {
    if (size <= largest_cached && align <= boundary_tag::granule) [[likely]] {
      void* const reused = caches_.allocate_fast(list_of(boundary_tag::block_size(size)));
      if (reused != nullptr) [[likely]]
        return {reused, boundary_tag::of(reused)->seen().usable()};
    }
    return allocate_slow(size, align);
  }

  MALLARD_INLINE void deallocate(void* p) noexcept {
    const boundary_tag tag = boundary_tag::of(p)->seen();
    if (is_cached(tag)) [[likely]]
      if (caches_.deallocate_fast(list_of(tag.size()), p)) [[likely]]
        return;
    deallocate_slow(p);
  }

  // A block with a stricter alignment than all blocks have is not cached, so that the next such block finds
  // its place.
  MALLARD_INLINE void deallocate(void* p, std::size_t, std::size_t align) noexcept {
    if (align > boundary_tag::granule) [[unlikely]]
      return deallocate_under_lock(p);
    deallocate(p);
  }

  [[nodiscard]] std::size_t usable_size(const void* p) const noexcept {
    return caches_.central().usable_size(p);
  }

  // --- under one lock -------------------------------------------------------------------------

  [[nodiscard]] bool allocate_burst(chain& out, std::size_t count, std::size_t size, std::size_t align,
                                    std::size_t contiguous) noexcept {
    return ask([&](central& all) { return all.allocate_burst(out, count, size, align, contiguous); });
  }

  [[nodiscard]] bool allocate_burst(chain& out, const std::size_t* lengths, std::size_t count,
                                    std::size_t unit, std::size_t align, std::size_t contiguous) noexcept {
    return ask(
        [&](central& all) { return all.allocate_burst(out, lengths, count, unit, align, contiguous); });
  }

  void deallocate_burst(chain& blocks) noexcept {
    const auto guard = caches_.lock();
    caches_.central().deallocate_burst(blocks);
  }

  void deallocate_burst(chain& blocks, std::size_t, std::size_t) noexcept { deallocate_burst(blocks); }

  [[nodiscard]] resize_result resize(const resize_request& request) noexcept {
    if (!has_way(request.ways, resize_way::allocate_new)) {
      const auto guard = caches_.lock();
      return caches_.central().resize(request);
    }
    return ask([&](central& all) { return all.resize(request); });
  }

  // Returns the calling thread's cached blocks, and coalesces all returned blocks.
  void flush() noexcept {
    caches_.flush();
    const auto guard = caches_.lock();
    (void)caches_.take_back_returned();
  }

  [[nodiscard]] bool owns(const void* p) const noexcept { return caches_.owns(p); }

  // --- the whole heap -------------------------------------------------------------------------

  // Keeps the chunks, and the caches with their threads.
  void clear() noexcept {
    MALLARD_VALIDATE();
    caches_.forget();
    caches_.central().clear();
  }

  void release() noexcept {
    MALLARD_VALIDATE();
    caches_.release();
    caches_.central().release();
  }

  // O(blocks).
  std::size_t trim(std::size_t keep) noexcept {
    MALLARD_VALIDATE();
    const std::size_t before = usage().held;
    caches_.take_back_all();
    caches_.release();
    static_cast<void>(caches_.central().trim(keep));
    return before - usage().held;
  }

  // O(blocks).
  [[nodiscard]] heap_usage usage() const noexcept {
    heap_usage found = caches_.central().usage();
    found.held += caches_.held();
    for (std::size_t i = 0; i < lists; ++i)
      caches_.each_unused(i, [&](const void* p) {
        found.carved -= boundary_tag::of(p)->size();
        found.granted -= boundary_tag::of(p)->usable();
      });
    return found;
  }

  // O(blocks log chunks), in the memory of address_ranges.
  [[nodiscard]] violation validate() const noexcept {
    std::size_t most = 0;  // blocks there can be, counted when the best_fit is known to be sound
    const auto handed_out = [&](std::size_t list) {
      if (list == 0) most = caches_.central().usage().carved / boundary_tag::least;
      return most;
    };
    if (violation v = caches_.validate(handed_out)) return v;
    violation found;
    for (std::size_t i = 0; i < lists; ++i)
      caches_.each_unused(i, [&](const void* p) {
        const boundary_tag* const b = boundary_tag::of(p);
        if (!b->is_used() || b->size() < size_of(i) || b->size() > size_of(i) + boundary_tag::granule)
          found = {"synchronized_best_fit: a cached block has another tag than its list"};
      });
    return found;
  }

 private:
  // Lists are for blocks of 32, 48, ... bytes, tags included.
  static constexpr std::size_t list_of(std::size_t size) noexcept {
    return (size - boundary_tag::least) / boundary_tag::granule;
  }
  static constexpr std::size_t size_of(std::size_t list) noexcept {
    return boundary_tag::least + list * boundary_tag::granule;
  }
  static constexpr std::size_t largest_list = list_of(boundary_tag::block_size(largest_cached));
  static constexpr std::size_t lists = largest_list + 1;

  // A block that has grown returns to the best_fit, so that the next one can grow there.
  [[nodiscard]] MALLARD_INLINE static bool is_cached(const boundary_tag& tag) noexcept {
    return tag.is_plain_below(free_blocks::small);
  }

  // A block of list i is requested by its usable size, and may be one granule larger.
  MALLARD_NOINLINE block allocate_slow(std::size_t size, std::size_t align) noexcept {
    if (size <= largest_cached && align <= boundary_tag::granule) {
      const std::size_t list = list_of(boundary_tag::block_size(size));
      const std::size_t usable = size_of(list) - boundary_tag::overhead;
      if (void* const p = caches_.allocate_slow(list, usable, boundary_tag::granule); p != nullptr)
        return {p, boundary_tag::of(p)->seen().usable()};
    }
    return ask([&](central& all) { return all.allocate(size, align); });
  }

  MALLARD_NOINLINE void deallocate_slow(void* p) noexcept {
    const boundary_tag tag = boundary_tag::of(p)->seen();
    if (is_cached(tag)) {
      const std::size_t list = list_of(tag.size());
      return caches_.deallocate_slow(list, p, size_of(list) - boundary_tag::overhead);
    }
    deallocate_under_lock(p);
  }

  MALLARD_NOINLINE void deallocate_under_lock(void* p) noexcept {
    const auto guard = caches_.lock();
    caches_.central().deallocate(p);
  }

  static bool succeeded(bool is_whole) noexcept { return is_whole; }
  static bool succeeded(const block& b) noexcept { return static_cast<bool>(b); }
  static bool succeeded(const resize_result& r) noexcept { return static_cast<bool>(r.memory); }

  // Returns f(best_fit) under the lock. If that finds no memory, returns the calling thread's cached blocks
  // and those that wait for any thread, and tries once more.
  template <class F>
  auto ask(F f) noexcept {
    const auto guard = caches_.lock();
    const auto answer = f(caches_.central());
    if (succeeded(answer)) [[likely]]
      return answer;
    caches_.flush();
    return caches_.take_back_returned() ? f(caches_.central()) : answer;
  }

  thread_caches<central, lists, lists, Mutex> caches_;
};

using synchronized_best_fit = basic_synchronized_best_fit<>;

template <>
inline constexpr std::string_view heap_name<synchronized_best_fit> = "synchronized_best_fit";

}  // namespace mallard
