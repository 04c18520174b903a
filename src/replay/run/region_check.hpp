// check_region_pass: replays a trace of regions once, untimed, and proves that the allocator serves it
// rightly.
//
//     allocate   aligned as asked; no byte of it in another live block; filled with the block's pattern
//     free       every byte of the pattern is still there
//     end        of a region, or of what is in it: the same, for all its blocks
//
// Where a region takes others with it, those are checked first, while they must still be alive.
// O(bytes allocated).
#pragma once

#include <cstdint>
#include <span>

#include "mallard/core/align.hpp"
#include "replay/run/byte_shadow.hpp"
#include "replay/run/check_pass.hpp"
#include "replay/run/region_pass.hpp"
#include "replay/trace/region_blocks.hpp"
#include "replay/trace/trace.hpp"

namespace mallard::replay {

template <region_allocator C>
class region_checker {
 public:
  region_checker(C& c, std::size_t blocks, std::size_t regions) : allocator_(c), live_(blocks, regions) {}

  check_result replay(std::span<const region_op> ops) {
    return check_ops(
        allocator_, ops.size(), [&](std::uint64_t i) { return step(ops[i], i + 1); }, exhausted_);
  }

 private:
  // What is wrong after this op, or null.
  const char* step(const region_op& o, std::uint64_t seed) {
    switch (o.kind()) {
      case region_op_kind::create:
        return allocator_.create(o.region(), o.parent()) ? nullptr : refused("a region was refused");
      case region_op_kind::allocate:
        return allocated(allocator_.allocate(o), o, seed);
      case region_op_kind::deallocate:
        return freed(o);
      case region_op_kind::clear:
        if (const char* violation = emptied(o.region())) return violation;
        allocator_.clear(o.region());
        return nullptr;
      case region_op_kind::destroy:
        return ended(o.region(), false);
      case region_op_kind::ended_by_clear:
        return ended(o.region(), C::clear_ends_children);
      case region_op_kind::ended_by_destroy:
        return ended(o.region(), C::destroy_ends_children);
    }
    return "unknown operation";
  }

  const char* refused(const char* what) {
    exhausted_ = true;
    return what;
  }

  const char* allocated(void* p, const region_op& o, std::uint64_t seed) {
    if (p == nullptr) return refused("an allocation was refused");
    if (live_[o.block()].seed != 0) return "an allocation into a slot that is taken";
    if (!is_aligned(p, o.align())) return "a block is not aligned as asked";
    if (!shadow_.claim(p, o.size())) return "two live blocks overlap";
    write_pattern(p, o.size(), seed);
    live_.add(o, p, seed);
    return nullptr;
  }

  const char* freed(const region_op& o) {
    const region_blocks::block& b = live_[o.block()];
    if (b.seed == 0) return "a free without its allocation";
    if (const char* violation = check_contents(b)) return violation;
    allocator_.deallocate(b.data, o);
    live_.remove(o.block());
    return nullptr;
  }

  const char* ended(std::uint32_t region, bool with_its_parent) {
    if (const char* violation = emptied(region)) return violation;
    if (!with_its_parent) allocator_.destroy(region);
    return nullptr;
  }

  // All blocks of the region end.
  const char* emptied(std::uint32_t region) {
    const char* violation = nullptr;
    live_.end_all(region, [&](std::uint32_t, const region_blocks::block& b) {
      return (violation = check_contents(b)) == nullptr;
    });
    return violation;
  }

  const char* check_contents(const region_blocks::block& b) {
    if (!has_pattern(b.data, b.size, b.seed))
      return "contents written at the allocation are damaged at the free";
    if (!shadow_.leave(b.data, b.size)) return "a free of bytes that are not allocated";
    return nullptr;
  }

  C& allocator_;
  region_blocks live_;
  byte_shadow shadow_;
  bool exhausted_ = false;
};

template <region_allocator C>
check_result check_region_pass(C& c, const trace& t) {
  return region_checker<C>(c, t.facts().slots, t.facts().region_slots).replay(t.region_ops());
}

}  // namespace mallard::replay
