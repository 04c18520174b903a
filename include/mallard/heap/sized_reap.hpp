// sized_reap: a reap without headers, for callers that pass sizes to deallocate.
//
//     up to 32 KiB   [ b ][ b ][free][ b ][ b ]^ cursor ....... ]   chunks from 8 KiB   --+
//     larger          node <-> node                                                       --+--> Upstream
//
// Blocks follow each other as in a region, rounded to 8 bytes (to 16 if their alignment is larger; from 1 KiB
// on to large_sizes, a 32nd on average), with nothing in front. Containers, std::pmr and typed allocators
// pass the size of a freed block, so it can be reused without a header. When a new chunk would be needed and
// much memory is free, free blocks are coalesced first. Once 1 MiB is held and blocks come and go, blocks
// below 1 KiB lie in slabs; a heap of 8 MiB and more without slabs whose last block is freed is as cleared
// (heap/sized_reap/headerless.hpp). clear() keeps all chunks, release() none; nesting is that of
// layer/nested.hpp. Suggested instead of a region if sizes are known on deallocation; otherwise `reap`.
// Chunks without blocks return to the upstream when a chunk is needed or on trim(), blocks above 32 KiB at
// once. Alignments above 16 bytes leave holes, which serve other blocks. Cost: ending is O(chunks); creating
// and ending an empty one takes 42 instructions, a child 62 (./dev instructions). A small block costs what it
// does in a region while bumping, otherwise 25 instructions per pair of known size. A request that
// coalesces first, after each 16th of what is held has been freed, is O(free blocks log chunks + bytes held /
// 512). A 64th of each chunk is kept for that. Debug builds validate where many blocks end. Not synchronised:
// a family counts as one heap. Seed 002, section 8.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/check.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/growth.hpp"
#include "mallard/core/size_classes.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/heap/reap.hpp"
#include "mallard/heap/sized_reap/headerless.hpp"
#include "mallard/layer/live_list.hpp"
#include "mallard/layer/nested.hpp"
#include "mallard/source/default_source.hpp"
#include "mallard/source/upstream_ref.hpp"

namespace mallard {

// The heap that nested<> turns into sized_reap. Largest: requests above it, rounded up, pass through; at most
// large_sizes::largest.
// LeastAnew and LeastSlabs: as in headerless.
template <heap Upstream, growth_policy Growth, std::size_t Largest, std::size_t LeastAnew,
          std::size_t LeastSlabs>
class headerless_heap {
 public:
  using upstream_type = Upstream;

  template <class... Args>
    requires constructible_as_root<Upstream, Args...>
  explicit headerless_heap(Args&&... args)
      : upstream_(std::forward<Args>(args)...), large_(upstream_), blocks_(upstream_) {}
  headerless_heap(const headerless_heap&) = delete;
  headerless_heap& operator=(const headerless_heap&) = delete;
  ~headerless_heap() { MALLARD_VALIDATE(); }

  [[nodiscard]] upstream_type& upstream() noexcept { return upstream_; }
  [[nodiscard]] const upstream_type& upstream() const noexcept { return upstream_; }

  [[nodiscard]] MALLARD_INLINE block allocate(std::size_t size, std::size_t align) noexcept {
    if (!is_small(size, align)) [[unlikely]]
      return allocate_other(size, align);
    const std::size_t whole = blocks::rounded_small(size, align);
    if (void* const p = blocks_.allocate_at_hand(whole, align); p != nullptr) [[likely]]
      return {p, whole};
    return allocate_small(whole, align);
  }

  MALLARD_INLINE void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    if (!is_small(size, align)) [[unlikely]]
      return deallocate_other(p, size, align);
    blocks_.deallocate_small(p, blocks::rounded_small(size, align));
  }

  [[nodiscard]] std::size_t received_size(std::size_t size, std::size_t align) const noexcept
    requires predictable<Upstream>
  {
    return is_ours(size, align) ? blocks::rounded(size, align) : large_.received_size(size, align);
  }

  void clear() noexcept {
    MALLARD_VALIDATE();
    large_.release();
    blocks_.clear();
  }

  void release() noexcept {
    MALLARD_VALIDATE();
    large_.release();
    blocks_.release();
  }

  std::size_t trim(std::size_t keep) noexcept {
    MALLARD_VALIDATE();
    return blocks_.trim(keep);
  }

  [[nodiscard]] bool owns(const void* p) const noexcept { return blocks_.owns(p) || large_.owns(p); }

  [[nodiscard]] heap_usage usage() const noexcept {
    const heap_usage inside = blocks_.usage();
    const heap_usage large = large_.usage();
    return {inside.held + large.held, inside.carved + large.carved, inside.granted + large.granted};
  }

  // O(free and large blocks).
  [[nodiscard]] violation validate() const noexcept {
    if (violation v = blocks_.validate()) return v;
    return large_.validate();
  }

 private:
  using blocks = headerless<upstream_ref<Upstream>, Growth, LeastAnew, LeastSlabs>;

  static_assert(Largest <= large_sizes::largest);
  static constexpr std::size_t largest = blocks::rounded(Largest, default_align);

  // Whether a block is served from chunks: the same for every size between the requested and the received.
  [[nodiscard]] static constexpr bool is_ours(std::size_t size, std::size_t align) noexcept {
    return size <= largest && align <= largest;
  }

  // The same of those that most callers have.
  [[nodiscard]] static constexpr bool is_small(std::size_t size, std::size_t align) noexcept {
    return is_ours(size, align) && blocks::is_small(size, align);
  }

  MALLARD_NOINLINE void deallocate_other(void* p, std::size_t size, std::size_t align) noexcept {
    if (!is_ours(size, align)) return large_.deallocate(p);
    blocks_.deallocate(p, blocks::rounded(size, align));
  }

  MALLARD_NOINLINE block allocate_small(std::size_t whole, std::size_t align) noexcept {
    void* const p = blocks_.allocate_elsewhere(whole, align);
    return p == nullptr ? block{} : block{p, whole};
  }

  // If memory runs out for one that passes through, chunks without blocks are returned to make room.
  MALLARD_NOINLINE block allocate_other(std::size_t size, std::size_t align) noexcept {
    if (is_ours(size, align)) {
      const std::size_t whole = blocks::rounded(size, align);
      void* const p = blocks_.allocate(whole, align);
      return p == nullptr ? block{} : block{p, whole};
    }
    const block b = large_.allocate(size, align);
    return b || blocks_.trim(0) == 0 ? b : large_.allocate(size, align);
  }

  Upstream upstream_;
  live_list<upstream_ref<Upstream>> large_;  // before the lists: what a short life touches is together
  blocks blocks_;
};

// Requests above this many bytes, rounded up, pass through; as large as the first growth steps.
inline constexpr std::size_t sized_reap_largest = std::size_t{32} << 10;

template <heap Upstream = default_source, growth_policy Growth = reap_growth,
          std::size_t Largest = sized_reap_largest, std::size_t LeastAnew = headerless_least_anew,
          std::size_t LeastSlabs = headerless_least_slabs>
using basic_sized_reap =
    nested<headerless_heap<shared_upstream<Upstream>, Growth, Largest, LeastAnew, LeastSlabs>>;

using sized_reap = basic_sized_reap<>;

template <>
inline constexpr std::string_view heap_name<sized_reap> = "sized_reap";

}  // namespace mallard
