// synchronized_multipool: a multipool for many threads, each with a cache of its own.
//
//     thread 1 --> cache [16] [24] ... [8192]  <--batches--+
//     thread 2 --> cache [16] [24] ... [8192]  <--batches--+--> multipool, under a lock --> Upstream
//     above 8192 bytes: one block at a time  --------------+
//
// Any thread may free what another has allocated. The block goes into the freeing thread's cache, a magazine
// for each class, and from there in batches to the slab that it lies in, from which any thread takes blocks
// in the order of addresses. A free waits for no lock: if another thread is in the multipool, the batch waits
// beside it for the next one that needs the class. The heap's lock is taken for a refill of a cache, for the
// cache's own memory and for blocks above the largest class. A cache keeps at most two batches per class, a
// batch being at most 32 blocks of what fits into 4 KiB, at least one: 0.3 MiB for a thread that frees blocks
// of every class, 3 KiB for one that uses only 48 bytes; each block that it keeps may keep a slab of 8 KiB
// from other classes. The cache itself takes 1 KiB, and for each class that its thread uses 128 bytes, or 0.7
// KiB if it uses many blocks. What is in it is returned when the thread ends, before or after the heap, or by
// flush(). Any number of heaps may exist.
// When memory runs out, a request returns null even if other threads' caches have blocks. Freed memory is
// kept as in multipool; 8 bytes are served as 16. It holds nothing until first used.
// Threads: allocate, deallocate, the bursts, received_size, owns and flush may run at any time; everything
// else, construction and destruction only while the other threads are quiet or ending. A thread that forks
// continues in the child if no other thread was inside the heap at that moment; the heap reuses what the
// other threads had cached. A shared object loaded separately, with thread tables of its own
// (attributes.hpp), may use another object's heap but must not destroy it; each operation then takes a lock.
// Cost of a pair on one thread: 27 instructions for a block of known size, 37 otherwise, 57 through std::pmr
// (gcc 12 -O2, callgrind, loop overhead subtracted). Seed 000, section 3 (multipools) and 4 (AS7 to AS10).
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/burst.hpp"
#include "mallard/core/chain.hpp"
#include "mallard/core/check.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/growth.hpp"
#include "mallard/core/light_mutex.hpp"
#include "mallard/core/size_classes.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/source/default_source.hpp"
#include "mallard/thread/returned_batches.hpp"
#include "mallard/thread/thread_caches.hpp"

namespace mallard {

// From 16 bytes, as a freed block holds two words, to 64 KiB, with 4 classes per doubling above 128 bytes,
// half of multipool's: each class is a list in every thread's cache.
using synchronized_multipool_classes = size_classes<8, 128, 4, 65536, returned_batches::least_block>;

// `Classes` has no block below returned_batches::least_block. `Mutex` suits std::unique_lock; its lock() and
// try_lock() do not throw.
template <heap Upstream = default_source, class Classes = synchronized_multipool_classes,
          growth_policy Growth = multipool_growth, growth_policy RunGrowth = multipool_run_growth,
          class Mutex = light_mutex>
class basic_synchronized_multipool {
  static_assert(Classes::size(Classes::index(1, 1)) >= returned_batches::least_block);

 public:
  using upstream_type = Upstream;
  using classes = Classes;

  static constexpr bool is_concurrent = true;

  // Size of the largest block that caches keep. A larger one is worth a lock: writing it takes longer.
  static constexpr std::size_t largest_cached = std::min<std::size_t>(8192, Classes::largest);

  template <class... Args>
    requires constructible_as_root<Upstream, Args...>
  explicit basic_synchronized_multipool(Args&&... args) : caches_(std::forward<Args>(args)...) {}
  basic_synchronized_multipool(const basic_synchronized_multipool&) = delete;
  basic_synchronized_multipool& operator=(const basic_synchronized_multipool&) = delete;
  ~basic_synchronized_multipool() { MALLARD_VALIDATE(); }

  // Not synchronised. Memory that is allocated from the upstream directly may end with this heap's clear()
  // and release().
  [[nodiscard]] upstream_type& upstream() noexcept { return caches_.central().upstream(); }
  [[nodiscard]] const upstream_type& upstream() const noexcept { return caches_.central().upstream(); }

  [[nodiscard]] MALLARD_INLINE block allocate(std::size_t size, std::size_t align) noexcept {
    if (Classes::is_small(size, align)) [[likely]] {
      const std::size_t index = Classes::small_index(size, align);
      if (void* const reused = caches_.allocate_fast(index); reused != nullptr) [[likely]]
        return {reused, Classes::size(index)};
    }
    return allocate_slow(size, align);
  }

  MALLARD_INLINE void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    if (Classes::is_small(size, align)) [[likely]]
      if (caches_.deallocate_fast(Classes::small_index(size, align), p)) [[likely]]
        return;
    deallocate_slow(p, size, align);
  }

  [[nodiscard]] bool allocate_burst(chain& out, std::size_t count, std::size_t size, std::size_t align,
                                    std::size_t /*contiguous*/) noexcept {
    return allocate_each(*this, out, count, size, align);
  }

  void deallocate_burst(chain& blocks, std::size_t size, std::size_t align) noexcept {
    while (!blocks.empty()) deallocate(blocks.pop_front(), size, align);
  }

  [[nodiscard]] std::size_t received_size(std::size_t size, std::size_t align) const noexcept
    requires predictable<Upstream>
  {
    if (Classes::serves(size, align)) return Classes::size(Classes::index(size, align));
    const auto guard = caches_.lock();
    return caches_.central().received_size(size, align);
  }

  // Its blocks may serve other classes from then on.
  void flush() noexcept {
    caches_.flush();
    if constexpr (keeps_batches<central>) {
      const auto guard = caches_.lock();
      (void)caches_.take_back_returned();
    }
  }

  // Keeps the chunks; a clearable upstream decides what it keeps.
  void clear() noexcept {
    MALLARD_VALIDATE();
    if constexpr (clearable<Upstream>)
      caches_.release();
    else
      caches_.forget();
    caches_.central().clear();
  }

  void release() noexcept {
    MALLARD_VALIDATE();
    caches_.release();
    caches_.central().release();
  }

  [[nodiscard]] bool owns(const void* p) const noexcept { return caches_.owns(p); }

  // Blocks carved, and free in caches or elsewhere, in the pool of class `index`, below classes::count. O(its
  // blocks).
  [[nodiscard]] pool_statistics statistics(std::size_t index) const noexcept {
    pool_statistics found = caches_.central().statistics(index);
    found.free += caches_.unused(index);
    return found;
  }

  [[nodiscard]] heap_usage usage() const noexcept {
    heap_usage found = caches_.central().usage();
    found.held += caches_.held();
    for (std::size_t i = 0; i < Classes::count; ++i) {
      const std::size_t unused = caches_.unused(i) * Classes::size(i);
      found.carved -= unused;
      found.granted -= unused;
    }
    return found;
  }

  [[nodiscard]] violation validate() const noexcept {
    return caches_.validate([this](std::size_t index) { return caches_.central().statistics(index).live(); });
  }

 private:
  using central = basic_multipool<Upstream, Classes, Growth, RunGrowth>;
  static constexpr std::size_t cached = Classes::index(largest_cached, 1) + 1;

  MALLARD_NOINLINE block allocate_large(std::size_t size, std::size_t align) noexcept {
    const auto guard = caches_.lock();
    return caches_.central().allocate(size, align);
  }

  MALLARD_NOINLINE block allocate_slow(std::size_t size, std::size_t align) noexcept {
    if (!Classes::serves(size, align)) return allocate_large(size, align);
    const std::size_t index = Classes::index(size, align);
    const std::size_t received = Classes::size(index);
    void* const p = caches_.allocate_slow(index, received, Classes::natural_align(received));
    return {p, p == nullptr ? 0 : received};
  }

  MALLARD_NOINLINE void deallocate_slow(void* p, std::size_t size, std::size_t align) noexcept {
    if (!Classes::serves(size, align)) {
      const auto guard = caches_.lock();
      return caches_.central().deallocate(p, size, align);
    }
    const std::size_t index = Classes::index(size, align);
    caches_.deallocate_slow(index, p, Classes::size(index));
  }

  thread_caches<central, Classes::count, cached, Mutex> caches_;
};

using synchronized_multipool = basic_synchronized_multipool<>;

template <>
inline constexpr std::string_view heap_name<synchronized_multipool> = "synchronized_multipool";

}  // namespace mallard
