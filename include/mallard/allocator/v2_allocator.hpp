// v2_allocator<T, Heap>: an allocator that also expands and shrinks in place and allocates in bursts.
//
//     vector, string, flat_map     allocation_command     [ block ....... ]<-- expand, shrink
//     list, slist, set, map        allocate_individual    [n][n][n][n][n]   one burst
//                                  allocate_one           [n]
//     any container                allocate, deallocate, allocate_at_least
//
// Implements the version-2 protocol of Boost.Container, whose containers detect the nested `version`. All
// other containers see a plain allocator; version 1 of the protocol is allocator<T, Heap>. The heap does what
// it can: it resizes in place if it is `resizable` and `measurable`, and serves bursts if it has them.
// Otherwise resize_objects and allocate_burst_any fall back to plain allocations.
// Every block has at least the size and alignment of a pointer, so that a chain can link it, and
// deallocate(p, 1) accepts blocks of allocate_one. heap_handle defines equality and propagation; threads may
// share it as far as the heap allows. Exhaustion throws std::bad_alloc; a command without allocate_new
// returns null instead. Disabled: command bits that are ignored. Cost: the heap's; all sizes except those of
// arrays are constants. Seed 001, "A configurable allocator for testing" and "Burst interface for
// allocators".
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <new>
#include <numeric>
#include <type_traits>

#include "mallard/allocator/allocator.hpp"
#include "mallard/allocator/multiallocation_chain.hpp"
#include "mallard/allocator/resize_objects.hpp"
#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/burst.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/resize.hpp"

namespace mallard {

template <class T, heap Heap, allocation_type Disabled = 0>
class v2_allocator : public heap_handle<Heap> {
  static_assert((Disabled & commands::growing) != commands::growing,
                "with every way to grow disabled nothing can be allocated");

 public:
  using value_type = T;
  using pointer = T*;
  using const_pointer = const T*;
  using size_type = std::size_t;
  using version = std::integral_constant<unsigned, 2>;
  using multiallocation_chain = mallard::multiallocation_chain<T>;

  template <class U>
  struct rebind {
    using other = v2_allocator<U, Heap, Disabled>;
  };

  // Implicit, so that a container takes the heap itself.
  v2_allocator(Heap& heap) noexcept  // NOLINT(google-explicit-constructor)
      : heap_handle<Heap>(heap) {}

  // Deleted for a clear message of the compiler, as in mallard::allocator.
  v2_allocator() = delete;  // no heap: pass one to the container's constructor
  template <class Other>
    requires(heap<Other> && !std::convertible_to<Other&, Heap&>)
  v2_allocator(Other&) = delete;  // another heap: the allocator's second template argument must be its type

  template <class U>
  v2_allocator(const v2_allocator<U, Heap, Disabled>& other) noexcept  // NOLINT(google-explicit-constructor)
      : heap_handle<Heap>(other) {}

  [[nodiscard]] static constexpr size_type max_size() noexcept { return max_request / object_size; }

  // --- arrays -----------------------------------------------------------------------------------

  [[nodiscard]] MALLARD_INLINE pointer allocate(size_type count) {
    return static_cast<pointer>(obtain(count).data);
  }

  [[nodiscard]] MALLARD_INLINE allocation_result<pointer> allocate_at_least(size_type count) {
    const block received = obtain(count);
    return {static_cast<pointer>(received.data), received.size / object_size};
  }

  // `count` may be any number from the requested to the received one; after a command, of the latest.
  MALLARD_INLINE void deallocate(pointer p, size_type count) noexcept {
    this->heap().deallocate(static_cast<void*>(p), bytes(count), align());
  }

  // Grows or shrinks the block at `reuse`, or allocates a new one, in one call. Sizes are in objects.
  //
  //   grow     to the preferred size if possible, at least to `limit_size`: forward, backward or anew, as far
  //            as the command names them, in this order. Backward, the start moves by whole objects; the
  //            caller moves the objects. A new block leaves the old one alive. If `reuse` is null, only
  //            allocate_new is possible. Precondition: limit <= preferred.
  //   shrink   at the end, to the preferred size if possible, at most to `limit_size`; try_shrink_in_place
  //            also accepts a larger size. Never allocates. Precondition: preferred <= limit.
  //
  // Returns the start of the block and its size, and sets `reuse` to null if it is a new one. On failure
  // returns null with nothing changed, or throws std::bad_alloc if allocate_new was given without
  // nothrow_allocation.
  [[nodiscard]] pointer allocation_command(allocation_type command, size_type limit_size,
                                           size_type& prefer_in_recvd_out_size, pointer& reuse) {
    const bool shrinks = (command & commands::shrinking) != 0;
    const allocation_type allowed = command & (shrinks ? commands::shrinking : commands::growing) & ~Disabled;
    const resize_result result =
        resize_objects(this->heap(), allowed, limit_size, prefer_in_recvd_out_size, reuse, objects);
    if (!result.memory) [[unlikely]] {
      if ((command & (commands::allocate_new | commands::nothrow_allocation)) == commands::allocate_new)
        throw std::bad_alloc();
      return nullptr;
    }
    prefer_in_recvd_out_size = result.memory.size / object_size;
    if (!result.reused) reuse = nullptr;
    return static_cast<pointer>(result.memory.data);
  }

  // Objects that fit into the live block at `p`.
  [[nodiscard]] size_type size(const_pointer p) const noexcept
    requires measurable<Heap>
  {
    return this->heap().usable_size(p) / object_size;
  }

  // --- single objects -----------------------------------------------------------------------------

  [[nodiscard]] MALLARD_INLINE pointer allocate_one() { return allocate(1); }
  MALLARD_INLINE void deallocate_one(pointer p) noexcept { deallocate(p, 1); }

  // Appends `count` blocks of one object each to `out`, or throws and does nothing.
  void allocate_individual(size_type count, multiallocation_chain& out) { allocate_many(1, count, out); }

  // Ends blocks of one object each; the chain is empty afterwards.
  void deallocate_individual(multiallocation_chain& ended) noexcept {
    deallocate_burst_any(this->heap(), ended.blocks(), bytes(1), align());
  }

  // --- arrays in bursts ---------------------------------------------------------------------------

  // Appends `count` blocks of `length` objects each to `out`, or throws and does nothing.
  void allocate_many(size_type length, size_type count, multiallocation_chain& out) {
    if (length > max_size()) [[unlikely]]
      throw std::bad_array_new_length();
    if (!allocate_burst_any(this->heap(), out.blocks(), count, bytes(length), align())) [[unlikely]]
      throw std::bad_alloc();
  }

  // Appends `count` blocks to `out`, the i-th of lengths[i] objects, or throws and does nothing.
  void allocate_many(const size_type* lengths, size_type count, multiallocation_chain& out) {
    if (!allocate_burst_any(this->heap(), out.blocks(), lengths, count, object_size, align())) [[unlikely]]
      throw std::bad_alloc();
  }

  // Ends blocks of any lengths; the chain is empty afterwards.
  void deallocate_many(multiallocation_chain& ended) noexcept
    requires ends_by_address<Heap>
  {
    deallocate_burst_any(this->heap(), ended.blocks(), align());
  }

 private:
  static constexpr std::size_t object_size = sizeof(T);  // NOLINT(bugprone-sizeof-expression): also pointers

  [[nodiscard]] static constexpr std::size_t align() noexcept { return std::max(alignof(T), alignof(void*)); }

  // A start moves by whole objects that keep it aligned; the heap knows which of these moves its tags and
  // classes allow.
  static constexpr object_layout objects{object_size, align(), std::lcm(object_size, align())};

  [[nodiscard]] static constexpr std::size_t bytes(size_type count) noexcept { return objects.bytes(count); }

  MALLARD_INLINE block obtain(size_type count) {
    if (count > max_size()) [[unlikely]]
      throw std::bad_array_new_length();
    const block received = this->heap().allocate(bytes(count), align());
    if (!received) [[unlikely]]
      throw std::bad_alloc();
    return received;
  }
};

}  // namespace mallard
