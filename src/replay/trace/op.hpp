// op, thread_step, region_op: one thing that a pass does to blocks, in a thread, to regions.
//
// op, 16 bytes:
//
//     allocate     slot <- block of `size` bytes; allocate_zeroed: all of them 0
//     deallocate   block in slot ends; `size` is what it has, for sized deallocation
//     reallocate   block in slot gets `size` bytes; the op behind it, `resized_from`, says what it had
//
// Slots replace addresses: a pass keeps its live blocks in an array indexed by slot. Slots are reused
// last in, first out, so that the array stays as small as the number of blocks ever alive at once.
//
// Alignment: what the event asked for, else the natural one of its size. A size says what it can hold:
// no object inside it is aligned more strictly than the largest power of two that fits, and one that
// needs 16 has a size that is a multiple of 16. So 24 bytes ask for 8, 48 for 16, 5 for 4.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "mallard/core/align.hpp"

namespace mallard::replay {

enum class op_kind : std::uint8_t {
  allocate,
  allocate_aligned,  // more strictly than malloc promises for this size
  deallocate,
  allocate_zeroed,  // calloc
  reallocate,
  resized_from,  // second half of a reallocate
};

[[nodiscard]] constexpr bool is_allocation(op_kind k) noexcept {
  return k == op_kind::allocate || k == op_kind::allocate_aligned || k == op_kind::allocate_zeroed;
}

struct op {
  std::uint64_t size;  // bytes
  std::uint32_t slot;
  op_kind kind;
  std::uint8_t align_log2;
  std::uint16_t thread = 0;  // which of the recorded threads did it; where a part is replayed: heap()

  [[nodiscard]] std::size_t align() const noexcept { return std::size_t{1} << align_log2; }

  // Where a part is replayed: which of its heaps has the block, or had it; 0: none, it is the baseline's.
  [[nodiscard]] std::uint16_t heap() const noexcept { return thread; }
  void set_heap(std::uint16_t heap) noexcept { thread = heap; }
};
static_assert(sizeof(op) == 16);

[[nodiscard]] constexpr std::uint8_t natural_align_log2(std::uint64_t size) noexcept {
  if (size == 0) return 0;
  const std::size_t most = size % default_align == 0 ? default_align : default_align / 2;
  return static_cast<std::uint8_t>(std::countr_zero(std::min<std::uint64_t>(most, std::bit_floor(size))));
}

// thread_step: one thing that a replayed thread does, and what it waits for, 32 bytes; thread_part: a thread.
//
//     thread 0   [ step step step step | end ]     order   its place in the journal's order
//     thread 1   [ step step | end ]               after   the step of another lane that must be done
//          ...                                     all_before all before this order must be done
//
// A lane is a place for one thread after another: there are as many as threads are alive at once. Slots are
// never shared: a reallocation moves its block into another slot, so that a slot is written by one step and
// read by one. The step behind a thread's last says when its lane goes on.
struct thread_step {
  op what;
  std::uint32_t order;       // index of the op in the trace of blocks
  std::uint32_t all_before;  // waits until every step of a lower order is done
  std::uint32_t after;       // waits until this one is done, by its order; or no_step
  std::uint16_t after_lane;  // which lane does it
  bool crosses = false;      // where several copies run at once: the block is that of the next copy
  std::uint8_t unused = 0;
};
static_assert(sizeof(thread_step) == 32);

// In place of an order: it waits for no other step.
inline constexpr std::uint32_t no_step = UINT32_MAX;

struct thread_part {
  std::uint64_t first_step;
  std::uint64_t steps;             // without the one behind the last
  std::uint64_t first_place;       // of its allocations, in their order
  std::uint32_t begin;             // it begins when what is before this order has ended
  std::uint32_t end;               // it has ended before what begins at this order
  std::uint32_t begin_all_before;  // it begins when every step of a lower order is done
  std::uint32_t end_all_before;    // so it ends
  std::uint32_t lane;
  std::uint32_t unused = 0;
};

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
// A program never says the last two: a strategy whose regions end with their parents skips them, for another
// they are ends of their own. Inner ones come first. Regions and blocks are slots, reused last in, first out.
//
// Alignment: what the event asked for, else 8 from 8 bytes on and the largest power of two that fits below.
// Region programs pad to the strictest of their ordinary types, and nothing in a journal says of a block
// that it needs 16.
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
