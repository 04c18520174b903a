// synchronized_pool: blocks of one size for many threads, each with a cache of its own.
//
//     thread 1 --> cache [b] -> [b] -> [b]   <--batches--+
//     thread 2 --> cache [b] -> [b]          <--batches--+--> pool, under a lock --> Upstream
//
// The size is given to the constructor, or is that of the first request, at least 16 bytes. Requests that
// do not fit are answered with null: it suits nodes and objects of one type; for others take a
// synchronized_multipool. Any thread ends what another has allocated; it goes into the ending thread's
// cache, and from there in batches, without a lock, to whoever needs blocks. Only refilling a cache takes
// the pool's lock. A cache keeps at most two batches, a batch being at most 32 blocks of what fits into
// 4 KiB, at least one; it is given back when the thread ends, before or after the pool, or by flush(). Any
// number of pools may live at a time. Where memory is used up, a request is answered with null though other
// threads' caches may have blocks. Freed memory is kept as pool keeps it. Holds nothing until first used.
// Threads: allocate, deallocate, the bursts, received_size, owns and flush at any time; all else,
// construction and destruction with the other threads quiet, except that they may be ending. A thread that
// forks goes on in the child, as long as no other one was inside the pool at that moment; what others had
// cached there is the pool's, for threads that come. Code of one shared object may use, but not end, a pool
// of another that was loaded apart and has thread tables of its own (attributes.hpp); there it takes a lock
// each time. Cost of a pair on one thread: 30 instructions, 43 through std::pmr (gcc 12 -O2, callgrind, the
// loop around it subtracted). Seed 000, section 3 (the pools of a multipool); seed 001, chapter 3 ("Simple
// segregated storage").
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
#include "mallard/core/chain.hpp"
#include "mallard/core/check.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/light_mutex.hpp"
#include "mallard/core/pool_statistics.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/heap/heap_name.hpp"
#include "mallard/heap/pool.hpp"
#include "mallard/layer/growth.hpp"
#include "mallard/layer/one_by_one.hpp"
#include "mallard/source/default_source.hpp"
#include "mallard/thread/returned_batches.hpp"
#include "mallard/thread/thread_caches.hpp"

namespace mallard {

// Caches over an unsynchronised pool, `Central`. `Mutex` is what std::lock_guard takes; its lock() does not
// throw.
template <fixed_size Central, class Mutex = light_mutex>
class synchronized_blocks {
 public:
  using upstream_type = typename Central::upstream_type;

  static constexpr bool is_concurrent = true;

  // A pool whose first request decides on the size; release() lets the next one decide anew.
  synchronized_blocks()
    requires std::default_initializable<upstream_type>
      : adopts_(true) {}

  // A pool of blocks of at least `size` bytes, aligned to at least `align` bytes, a power of two; if no
  // source has so much, every request is null. The upstream is made of `args`.
  // Any integers, so that facades hand on a plain `48` as it is.
  template <std::integral Size, std::integral Align = std::size_t, class... Args>
    requires std::constructible_from<upstream_type, Args...>
  explicit synchronized_blocks(Size size, Align align = default_align, Args&&... args)
      : caches_(served_as(static_cast<std::size_t>(size)), align, std::forward<Args>(args)...) {
    take_over_size();
  }
  synchronized_blocks(const synchronized_blocks&) = delete;
  synchronized_blocks& operator=(const synchronized_blocks&) = delete;
  ~synchronized_blocks() { MALLARD_CHECK(!validate()); }

  // Not synchronised. What else is taken from here directly may end with this heap's release().
  [[nodiscard]] upstream_type& upstream() noexcept { return caches_.central().upstream(); }
  [[nodiscard]] const upstream_type& upstream() const noexcept { return caches_.central().upstream(); }

  // Bytes of every block, and what it is aligned to, in bytes; 0 where the first request is to come.
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
    return allocate_one_by_one(*this, out, count, size, align);
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

  // Keeps all chunks, and the size.
  void clear() noexcept {
    MALLARD_CHECK(!validate());
    caches_.forget();
    caches_.central().clear();
  }

  void release() noexcept {
    MALLARD_CHECK(!validate());
    caches_.release();
    caches_.central().release();
    take_over_size();
  }

  // Gives what waits in caches back, and then chunks without live blocks until at most `keep` bytes of them
  // are held. Where no block lives, the caches go, too.
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

  // Its blocks carved, and those that are free, in caches or elsewhere. O(blocks), as all that inspects.
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

  // 0 for all where the first request is to come, or where no source has so much.
  [[nodiscard]] std::size_t received_of_decided(std::size_t size, std::size_t align) const noexcept {
    return size <= block_size() && align <= block_align() ? block_size() : 0;
  }

  // Written under the lock, or with other threads quiet. Who sees the size sees the alignment.
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

  // The block that decides on the size; null where another thread was faster, or where there is none.
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
