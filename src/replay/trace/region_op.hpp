// region_op: one thing a pass does to regions, 16 bytes.
//
//     create            region <- a new one inside `parent`, or a root
//     allocate          block <- `size` bytes of the region
//     deallocate        the block ends; its region may reuse it
//     clear             all blocks of the region end, and the regions inside it
//     destroy           the region ends, with its blocks and the regions inside it
//     ended_by_clear    comes before a clear, for each region right inside the one that is cleared
//     ended_by_destroy  comes before the end of a region around this one, for each that ends with it
//
// The last two are what a program never says: a strategy whose regions end with their parents passes them
// over, for another they are ends of their own. Inner ones come first. Regions and blocks are slots, reused
// last in, first out.
//
// Alignment: what the event asked for, else 8 from 8 bytes on and the largest power of two that fits below.
// Region programs pad to the strictest of their ordinary types, and nothing in a journal says of a block
// that it needs 16.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace mallard::replay {

enum class region_op_kind : std::uint8_t {
  create,
  allocate,
  deallocate,
  clear,
  destroy,
  ended_by_clear,
  ended_by_destroy,
};

// How many regions more live after it.
[[nodiscard]] constexpr int regions_more(region_op_kind kind) noexcept {
  switch (kind) {
    case region_op_kind::create:
      return 1;
    case region_op_kind::destroy:
    case region_op_kind::ended_by_clear:
    case region_op_kind::ended_by_destroy:
      return -1;
    default:
      return 0;
  }
}

// In place of a parent: the region is a root.
inline constexpr std::uint32_t no_region = UINT32_MAX;

class region_op {
 public:
  // Of blocks: `size` is below 2^48.
  region_op(region_op_kind kind, std::uint32_t region, std::uint32_t block, std::uint64_t size,
            std::uint8_t align_log2) noexcept
      : word_(size | std::uint64_t{align_log2} << 48 | static_cast<std::uint64_t>(kind) << 56),
        region_(region),
        other_(block) {}

  // Of regions; only a creation has a parent.
  region_op(region_op_kind kind, std::uint32_t region, std::uint32_t parent = no_region) noexcept
      : region_op(kind, region, parent, 0, 0) {}

  [[nodiscard]] region_op_kind kind() const noexcept { return static_cast<region_op_kind>(word_ >> 56); }
  [[nodiscard]] std::uint32_t region() const noexcept { return region_; }
  [[nodiscard]] std::uint32_t parent() const noexcept { return other_; }
  [[nodiscard]] std::uint32_t block() const noexcept { return other_; }
  [[nodiscard]] std::size_t size() const noexcept { return word_ & ((std::uint64_t{1} << 48) - 1); }
  [[nodiscard]] std::size_t align() const noexcept { return std::size_t{1} << (word_ >> 48 & 63); }

 private:
  std::uint64_t word_;  // size, alignment, kind
  std::uint32_t region_;
  std::uint32_t other_;  // parent or block
};
static_assert(sizeof(region_op) == 16);

[[nodiscard]] constexpr std::uint8_t region_align_log2(std::uint64_t size) noexcept {
  return static_cast<std::uint8_t>(std::countr_zero(std::bit_floor(std::clamp<std::uint64_t>(size, 1, 8))));
}

}  // namespace mallard::replay
