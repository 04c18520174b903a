// synchronized_pool: blocks of one size for many threads, each with a cache of its own.
//
//     thread 1 --> cache [b][b][b][ ]   <--batches--+
//     thread 2 --> cache [b][b][ ][ ]   <--batches--+--> pool, under a lock --> Upstream
//
// The constructor sets the size, at least 16 bytes, or else the first request does. Requests that do not fit
// return null: it suits nodes and objects of one type; for others use a synchronized_multipool. Any thread
// may free what another has allocated. The block goes into the freeing thread's cache, and from there in
// batches, without a lock, to any thread that needs blocks. Only refilling a cache, and the memory of a
// cache, take the pool's lock. A cache keeps at most two batches, a batch being at most 32 blocks of what
// fits into 4 KiB, at least one. It is returned when the thread ends, before or after the pool, or by
// flush(). Any number of pools may exist. When memory runs out, a request returns null even if other threads'
// caches have blocks. Freed memory is kept as in pool. It holds nothing until first used. Threads, forks and
// shared objects: as synchronized_multipool. Cost of a pair on one thread: 33 instructions, 46 through
// std::pmr (gcc 12 -O2, callgrind, loop overhead subtracted). Seed 000, section 3 (the pools of a multipool);
// seed 001, chapter 3 ("Simple segregated storage").
#pragma once

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <string_view>
#include <utility>

#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/burst.hpp"
#include "mallard/core/chain.hpp"
#include "mallard/core/check.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/growth.hpp"
#include "mallard/core/light_mutex.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/heap/pool.hpp"
#include "mallard/source/default_source.hpp"
#include "mallard/thread/returned_batches.hpp"
#include "mallard/thread/thread_caches.hpp"

namespace mallard {

// Caches over an unsynchronised pool, `Central`. `Mutex` suits std::lock_guard; its lock() does not throw.
template <fixed_size Central, class Mutex = light_mutex>
class synchronized_blocks {
 public:
  using upstream_type = typename Central::upstream_type;

  static constexpr bool is_concurrent = true;

  // A pool whose first request sets the size; release() lets the next request set it again.
  synchronized_blocks()
    requires std::default_initializable<upstream_type>
      : adopts_(true) {}

  // A pool of blocks of at least `size` bytes, aligned to at least `align` bytes, a power of two; if no
  // source has that much, every request returns null. `args` construct the upstream.
  // Templated on integral types so that facades can forward a plain `48`.
  template <std::integral Size, std::integral Align = std::size_t, class... Args>
    requires constructible_as_root<upstream_type, Args...>
  explicit synchronized_blocks(Size size, Align align = default_align, Args&&... args)
      : caches_(served_as(static_cast<std::size_t>(size)), align, std::forward<Args>(args)...) {
    take_over_size();
  }
  synchronized_blocks(const synchronized_blocks&) = delete;
  synchronized_blocks& operator=(const synchronized_blocks&) = delete;
  ~synchronized_blocks() { MALLARD_VALIDATE(); }

  // Not synchronised. Memory that is allocated from the upstream directly may end with this heap's release().
  [[nodiscard]] upstream_type& upstream() noexcept { return caches_.central().upstream(); }
  [[nodiscard]] const upstream_type& upstream() const noexcept { return caches_.central().upstream(); }

  // Size and alignment of every block, in bytes; 0 before the first request sets them.
  [[nodiscard]] std::size_t block_size() const noexcept { return size_.load(std::memory_order_acquire); }
  [[nodiscard]] std::size_t block_align() const noexcept { return align_.load(std::memory_order_relaxed); }

  [[nodiscard]] MALLARD_INLINE block allocate(std::size_t size, std::size_t align) noexcept {
    const std::size_t received = block_size();
    if (size <= received && align <= block_align()) [[likely]]
      if (void* const reused = caches_.allocate_fast(0); reused != nullptr) [[likely]]
        return {reused, received};
    return allocate_slow(size, align);
  }

  MALLARD_INLINE void deallocate(void* p, std::size_t, std::size_t) noexcept {
    if (!caches_.deallocate_fast(0, p)) [[unlikely]]
      deallocate_slow(p);
  }

  [[nodiscard]] bool allocate_burst(chain& out, std::size_t count, std::size_t size, std::size_t align,
                                    std::size_t /*contiguous*/) noexcept {
    return allocate_each(*this, out, count, size, align);
  }

  void deallocate_burst(chain& blocks, std::size_t size, std::size_t align) noexcept {
    while (!blocks.empty()) deallocate(blocks.pop_front(), size, align);
  }

  [[nodiscard]] std::size_t received_size(std::size_t size, std::size_t align) const noexcept {
    if (!adopts_ || block_size() != 0) return received_of_decided(size, align);
    const auto guard = caches_.lock();
    return caches_.central().received_size(served_as(size), align);
  }

  void flush() noexcept { caches_.flush(); }

  // Keeps the size and all chunks; a clearable upstream decides what it keeps.
  void clear() noexcept {
    MALLARD_VALIDATE();
    if constexpr (clearable<upstream_type>)
      caches_.release();
    else
      caches_.forget();
    caches_.central().clear();
  }

  void release() noexcept {
    MALLARD_VALIDATE();
    caches_.release();
    caches_.central().release();
    take_over_size();
  }

  // Returns blocks that wait in caches, then chunks without live blocks until at most `keep` bytes of them
  // are held. If no block lives, the caches are returned as well.
  std::size_t trim(std::size_t keep) noexcept
    requires trimmable<Central>
  {
    const std::size_t before = held();
    caches_.take_back_all();
    if (caches_.central().statistics().live() == 0) caches_.release();
    (void)caches_.central().trim(keep);
    return before - held();
  }

  [[nodiscard]] bool owns(const void* p) const noexcept { return caches_.owns(p); }

  // Blocks carved, and free in caches or elsewhere. O(blocks), like all inspection.
  [[nodiscard]] pool_statistics statistics() const noexcept {
    pool_statistics found = caches_.central().statistics();
    found.free += caches_.unused(0);
    return found;
  }

  [[nodiscard]] heap_usage usage() const noexcept {
    const std::size_t granted = statistics().live() * block_size();
    return {held(), granted, granted};
  }

  [[nodiscard]] violation validate() const noexcept {
    return caches_.validate([this](std::size_t) { return caches_.central().statistics().live(); });
  }

 private:
  // A freed block holds two words.
  static constexpr std::size_t served_as(std::size_t size) noexcept {
    return std::max(size, returned_batches::least_block);
  }

  [[nodiscard]] std::size_t held() const noexcept { return caches_.central().usage().held + caches_.held(); }

  // 0 before the first request sets the size, or if no source has that much.
  [[nodiscard]] std::size_t received_of_decided(std::size_t size, std::size_t align) const noexcept {
    return size <= block_size() && align <= block_align() ? block_size() : 0;
  }

  // Called under the lock, or while the other threads are quiet. A thread that sees the size also sees the
  // alignment.
  void take_over_size() noexcept {
    align_.store(caches_.central().block_align(), std::memory_order_relaxed);
    size_.store(caches_.central().block_size(), std::memory_order_release);
  }

  MALLARD_NOINLINE block allocate_slow(std::size_t size, std::size_t align) noexcept {
    if (adopts_ && block_size() == 0)
      if (const block first = adopt(size, align)) return first;
    const std::size_t received = received_of_decided(size, align);
    if (received == 0) return {};
    void* const p = caches_.allocate_slow(0, received, block_align());
    return {p, p == nullptr ? 0 : received};
  }

  // The block of the request that sets the size; null if another thread was faster, or when exhausted.
  block adopt(std::size_t size, std::size_t align) noexcept {
    const auto guard = caches_.lock();
    if (caches_.central().block_size() != 0) return {};
    const block first = caches_.central().allocate(served_as(size), align);
    take_over_size();
    return first;
  }

  MALLARD_NOINLINE void deallocate_slow(void* p) noexcept { caches_.deallocate_slow(0, p, block_size()); }

  std::atomic<std::size_t> size_{0};
  std::atomic<std::size_t> align_{0};
  bool adopts_ = false;
  thread_caches<Central, 1, 1, Mutex> caches_;
};

template <heap Upstream = default_source, growth_policy Growth = pool_growth, class Mutex = light_mutex>
using basic_synchronized_pool = synchronized_blocks<basic_pool<Upstream, Growth>, Mutex>;

using synchronized_pool = basic_synchronized_pool<>;

template <>
inline constexpr std::string_view heap_name<synchronized_pool> = "synchronized_pool";

}  // namespace mallard
