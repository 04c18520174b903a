// sized_reap: a reap without headers, for callers that give sizes back.
//
//     up to 32 KiB   [ b ][ b ][free][ b ][ b ]^ cursor ....... ]   chunks from 8 KiB   --+
//     larger          node <-> node                                                       --+--> Upstream
//
// Blocks follow each other as in a region: rounded to 8 bytes, to 16 where their alignment is, with nothing
// in front. A single block comes back with its size, as containers, std::pmr and typed allocators give it,
// and serves again; what is free is joined when a chunk would be needed and much is free
// (heap/sized_reap/headerless.hpp). clear() keeps all chunks, release() none; nesting is that of
// layer/nested.hpp. Suggested in place of a region whose blocks have known sizes; where they are unknown,
// `reap`. Chunks without blocks go back when it needs a chunk or is trimmed, blocks above 32 KiB at once.
// What is aligned to more than 16 bytes leaves holes before it, which serve other blocks. Cost: O(chunks) to
// end, for an empty one 39 instructions with its making, 59 of a child (./dev instructions); a small block
// costs what it does in a region while bumping, else some 20 instructions a pair of known size. A request
// that joins first, each time that a 16th of what is held was freed, takes O(n log n) of the free blocks and
// chunks. Debug builds validate where many blocks end. Not synchronised: a family counts as one heap. Seed
// 002, section 8.
#pragma once

#include <concepts>
#include <cstddef>
#include <string_view>
#include <utility>

#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/check.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/heap/heap_name.hpp"
#include "mallard/heap/reap.hpp"
#include "mallard/heap/sized_reap/headerless.hpp"
#include "mallard/layer/growth.hpp"
#include "mallard/layer/live_list.hpp"
#include "mallard/layer/nested.hpp"
#include "mallard/source/default_source.hpp"
#include "mallard/source/shared_upstream.hpp"
#include "mallard/source/upstream_ref.hpp"

namespace mallard {

// What nested<> makes a sized_reap of. Largest: requests above as many bytes pass through.
template <heap Upstream, growth_policy Growth, std::size_t Largest>
class headerless_heap {
 public:
  using upstream_type = Upstream;

  template <class... Args>
    requires std::constructible_from<Upstream, Args...>
  explicit headerless_heap(Args&&... args)
      : upstream_(std::forward<Args>(args)...), large_(upstream_), blocks_(upstream_) {}
  headerless_heap(const headerless_heap&) = delete;
  headerless_heap& operator=(const headerless_heap&) = delete;
  ~headerless_heap() { MALLARD_CHECK(!validate()); }

  [[nodiscard]] upstream_type& upstream() noexcept { return upstream_; }
  [[nodiscard]] const upstream_type& upstream() const noexcept { return upstream_; }

  [[nodiscard]] MALLARD_INLINE block allocate(std::size_t size, std::size_t align) noexcept {
    if (!is_ours(size, align)) [[unlikely]]
      return allocate_large(size, align);
    const std::size_t whole = blocks::rounded(size, align);
    void* const p = blocks_.allocate(whole, align);
    return p == nullptr ? block{} : block{p, whole};
  }

  MALLARD_INLINE void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    if (blocks_.is_bumping()) [[unlikely]]
      return deallocate_bumping(p, size, align);
    give(p, size, align);
  }

  void clear() noexcept {
    MALLARD_CHECK(!validate());
    large_.release();
    blocks_.clear();
  }

  void release() noexcept {
    MALLARD_CHECK(!validate());
    large_.release();
    blocks_.release();
  }

  std::size_t trim(std::size_t keep) noexcept {
    MALLARD_CHECK(!validate());
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
  using blocks = headerless<upstream_ref<Upstream>, Growth>;

  static_assert(Largest % sized_blocks::coarse == 0, "so that no block of ours receives more");

  // Whether a block is served from chunks: the same for every size between the requested and the received.
  [[nodiscard]] static constexpr bool is_ours(std::size_t size, std::size_t align) noexcept {
    return size <= Largest && align <= Largest;
  }

  MALLARD_INLINE void give(void* p, std::size_t size, std::size_t align) noexcept {
    if (!is_ours(size, align)) [[unlikely]]
      return large_.deallocate(p);
    blocks_.deallocate(p, blocks::rounded(size, align));
  }

  MALLARD_NOINLINE void deallocate_bumping(void* p, std::size_t size, std::size_t align) noexcept {
    give(p, size, align);
  }

  // Where memory for it ends, what chunks without blocks hold makes room.
  MALLARD_NOINLINE block allocate_large(std::size_t size, std::size_t align) noexcept {
    const block b = large_.allocate(size, align);
    return b || blocks_.trim(0) == 0 ? b : large_.allocate(size, align);
  }

  Upstream upstream_;
  live_list<upstream_ref<Upstream>> large_;  // before the lists: what a short life touches is together
  blocks blocks_;
};

// Requests above this many bytes pass through: as large as the first steps of growth.
inline constexpr std::size_t sized_reap_largest = std::size_t{32} << 10;

template <heap Upstream = default_source, growth_policy Growth = reap_growth,
          std::size_t Largest = sized_reap_largest>
using basic_sized_reap = nested<headerless_heap<shared_upstream<Upstream>, Growth, Largest>>;

using sized_reap = basic_sized_reap<>;

template <>
inline constexpr std::string_view heap_name<sized_reap> = "sized_reap";

}  // namespace mallard
