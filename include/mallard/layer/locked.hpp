// locked<Heap, Mutex>: any heap for many threads, by one lock around each member.
//
//     thread A --allocate--+
//     thread B --resize----+--> [ mutex ] --> Heap
//     thread C --release---+
//
// It forwards every capability of the heap. Invariant: the heap is only entered with the lock held, once per
// operation; a burst, or a resize in several ways, locks once too, even for a block whose size only the heap
// knows. Any thread may call any member at any time, including those that walk or end the whole heap; callers
// ensure that nobody uses a block that release(), clear() or rewind() has ended. A child region shares its
// parent's upstream but not its lock, so nesting is not forwarded, and a locked heap cannot be a child.
// Suggested for heaps that few threads use occasionally, and for sources shared by several heaps. Threads
// that allocate all the time contend for the lock: use a synchronised heap instead. Cost: a lock and an
// unlock per operation beside the heap's. It holds nothing itself. Seed 000, section 4 (synchronised
// flavours); seed 001 (allocation_command: one lock a resize).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/chain.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/light_mutex.hpp"
#include "mallard/core/resize.hpp"
#include "mallard/core/usage.hpp"

namespace mallard {

namespace detail {

template <class Heap>
inline constexpr resize_way ways_of = resize_way::none;
template <resizable Heap>
inline constexpr resize_way ways_of<Heap> = Heap::ways;

}  // namespace detail

// Heap: not concurrent, as that would need no lock. Mutex: lock() and unlock(), default-constructible; a
// lock() that throws ends the program, as no member of a heap may throw. The default is inlined, and not
// atomic while the program has one thread.
template <heap Heap, class Mutex = light_mutex>
  requires(!concurrent<Heap>)
class locked {
  using guard = inline_guard<Mutex>;

 public:
  using upstream_type = typename detail::upstream_type_of<Heap>::type;
  using mark_type = typename detail::mark_type_of<Heap>::type;
  static constexpr bool is_concurrent = true;
  static constexpr resize_way ways = detail::ways_of<Heap>;

  // `args` construct the heap.
  template <class... Args>
    requires constructible_as_root<Heap, Args...>
  explicit locked(Args&&... args) : heap_(std::forward<Args>(args)...) {}
  locked(const locked&) = delete;
  locked& operator=(const locked&) = delete;

  // The heap itself, and its upstream, without the lock: for quiet times, when no other thread is in it.
  [[nodiscard]] Heap& heap() noexcept { return heap_; }
  [[nodiscard]] const Heap& heap() const noexcept { return heap_; }
  [[nodiscard]] upstream_type& upstream() noexcept
    requires layered<Heap>
  {
    return heap_.upstream();
  }
  [[nodiscard]] const upstream_type& upstream() const noexcept
    requires(layered<Heap> && requires(const Heap& h) { h.upstream(); })
  {
    return heap_.upstream();
  }

  [[nodiscard]] MALLARD_INLINE block allocate(std::size_t size, std::size_t align) noexcept {
    const guard lock(mutex_);
    return heap_.allocate(size, align);
  }

  [[nodiscard]] block allocate(std::size_t size, std::size_t align, bool& is_fresh) noexcept
    requires tells_fresh<Heap>
  {
    const guard lock(mutex_);
    return heap_.allocate(size, align, is_fresh);
  }

  MALLARD_INLINE void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    const guard lock(mutex_);
    heap_.deallocate(p, size, align);
  }

  MALLARD_INLINE void deallocate(void* p) noexcept
    requires freeable<Heap>
  {
    const guard lock(mutex_);
    heap_.deallocate(p);
  }

  void return_to_system(void* p, std::size_t size, std::size_t align) noexcept
    requires caching<Heap>
  {
    const guard lock(mutex_);
    heap_.return_to_system(p, size, align);
  }

  // --- many blocks at once --------------------------------------------------------------------

  void release() noexcept
    requires releasable<Heap>
  {
    const guard lock(mutex_);
    heap_.release();
  }

  void clear() noexcept
    requires clearable<Heap>
  {
    const guard lock(mutex_);
    heap_.clear();
  }

  std::size_t trim(std::size_t keep) noexcept
    requires trimmable<Heap>
  {
    const guard lock(mutex_);
    return heap_.trim(keep);
  }

  [[nodiscard]] mark_type mark() const noexcept
    requires rewindable<Heap>
  {
    const guard lock(mutex_);
    return heap_.mark();
  }

  // Ends the blocks that any thread has allocated since.
  void rewind(const mark_type& to) noexcept
    requires rewindable<Heap>
  {
    const guard lock(mutex_);
    heap_.rewind(to);
  }

  [[nodiscard]] bool allocate_burst(chain& out, std::size_t count, std::size_t size, std::size_t align,
                                    std::size_t contiguous) noexcept
    requires burst<Heap>
  {
    const guard lock(mutex_);
    return heap_.allocate_burst(out, count, size, align, contiguous);
  }

  void deallocate_burst(chain& blocks, std::size_t size, std::size_t align) noexcept
    requires burst<Heap>
  {
    const guard lock(mutex_);
    heap_.deallocate_burst(blocks, size, align);
  }

  [[nodiscard]] bool allocate_burst(chain& out, const std::size_t* lengths, std::size_t count,
                                    std::size_t unit, std::size_t align, std::size_t contiguous) noexcept
    requires burst_of_sizes<Heap>
  {
    const guard lock(mutex_);
    return heap_.allocate_burst(out, lengths, count, unit, align, contiguous);
  }

  void deallocate_burst(chain& blocks) noexcept
    requires burst_of_sizes<Heap>
  {
    const guard lock(mutex_);
    heap_.deallocate_burst(blocks);
  }

  // --- one block ------------------------------------------------------------------------------

  // All its ways under one lock.
  [[nodiscard]] resize_result resize(const resize_request& request) noexcept
    requires resizable<Heap>
  {
    const guard lock(mutex_);
    return heap_.resize(request);
  }

  [[nodiscard]] std::size_t usable_size(const void* p) const noexcept
    requires measurable<Heap>
  {
    const guard lock(mutex_);
    return heap_.usable_size(p);
  }

  [[nodiscard]] std::size_t received_size(std::size_t size, std::size_t align) const noexcept
    requires predictable<Heap>
  {
    const guard lock(mutex_);
    return heap_.received_size(size, align);
  }

  [[nodiscard]] bool owns(const void* p) const noexcept
    requires owning<Heap>
  {
    const guard lock(mutex_);
    return heap_.owns(p);
  }

  [[nodiscard]] std::size_t block_size() const noexcept
    requires fixed_size<Heap>
  {
    const guard lock(mutex_);
    return heap_.block_size();
  }

  [[nodiscard]] std::size_t block_align() const noexcept
    requires fixed_size<Heap>
  {
    const guard lock(mutex_);
    return heap_.block_align();
  }

  // --- figures --------------------------------------------------------------------------------

  [[nodiscard]] heap_usage usage() const noexcept
    requires inspectable<Heap>
  {
    const guard lock(mutex_);
    return heap_.usage();
  }

  [[nodiscard]] violation validate() const noexcept
    requires inspectable<Heap>
  {
    const guard lock(mutex_);
    return heap_.validate();
  }

  [[nodiscard]] std::size_t held() const noexcept
    requires counted<Heap>
  {
    const guard lock(mutex_);
    return heap_.held();
  }

  [[nodiscard]] std::size_t max_held() const noexcept
    requires counted<Heap>
  {
    const guard lock(mutex_);
    return heap_.max_held();
  }

 private:
  mutable Mutex mutex_;
  Heap heap_;
};

namespace detail {

template <named Heap>
inline constexpr auto name_of_locked = [] {
  constexpr std::string_view first = "locked_";
  std::array<char, first.size() + heap_name<Heap>.size()> joined{};
  std::ranges::copy(heap_name<Heap>, std::ranges::copy(first, joined.begin()).out);
  return joined;
}();

}  // namespace detail

template <named Heap, class Mutex>
inline constexpr std::string_view heap_name<locked<Heap, Mutex>>{detail::name_of_locked<Heap>.data(),
                                                                 detail::name_of_locked<Heap>.size()};

}  // namespace mallard
