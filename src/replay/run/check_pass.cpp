#include "replay/run/check_pass.hpp"

#include <algorithm>
#include <cstdint>

#include "harness/mapping.hpp"
#include "mallard/core/align.hpp"
#include "replay/run/byte_shadow.hpp"

namespace mallard::replay {
namespace {

class checker {
 public:
  checker(block_calls c, std::size_t slots)
      : allocator_(c),
        memory_(slots * sizeof(live_block), harness::fill::at_first_touch),
        live_(static_cast<live_block*>(memory_.data())) {}

  check_result replay(std::span<const op> ops) {
    return check_ops(
        allocator_, ops.size(), [&](std::uint64_t i) { return step(&ops[i], i + 1); }, exhausted_);
  }

 private:
  struct live_block {
    void* data;
    std::uint64_t seed;  // 0: no live block in this slot
  };

  // What is wrong after this op, or null.
  const char* step(const op* o, std::uint64_t seed) {
    switch (o->kind) {
      case op_kind::allocate:
        return allocated(allocator_.allocate(*o), *o, seed);
      case op_kind::allocate_aligned:
        return allocated(allocator_.allocate_aligned(*o), *o, seed);
      case op_kind::deallocate:
        return freed(*o);
      case op_kind::reallocate:
        return resized(o[0], o[1], seed);
      case op_kind::resized_from:
        return nullptr;
      case op_kind::allocate_zeroed:
        return zeroed(allocator_.allocate_zeroed(*o), *o, seed);
    }
    return "unknown operation";
  }

  const char* allocated(void* p, const op& o, std::uint64_t seed) {
    if (p == nullptr) {
      exhausted_ = true;
      return "an allocation was refused";
    }
    live_block& b = live_[o.slot];
    if (b.seed != 0) return "an allocation into a slot that is taken";
    if (!is_aligned(p, o.align())) return "a block is not aligned as asked";
    if (!shadow_.claim(p, o.size)) return "two live blocks overlap";
    write_pattern(p, o.size, seed);
    b = {p, seed};
    return nullptr;
  }

  // Looked at before the pattern is written.
  const char* zeroed(void* p, const op& o, std::uint64_t seed) {
    const bool all_zero = p == nullptr || is_zero(p, o.size);
    const char* const violation = allocated(p, o, seed);
    return violation == nullptr && !all_zero ? "a block of calloc is not zero" : violation;
  }

  const char* freed(const op& o) {
    live_block& b = live_[o.slot];
    if (b.seed == 0) return "a free without its allocation";
    if (!has_pattern(b.data, o.size, b.seed))
      return "contents written at the allocation are damaged at the free";
    if (!shadow_.leave(b.data, o.size)) return "a free of bytes that are not allocated";
    allocator_.deallocate(b.data, o);
    b.seed = 0;
    return nullptr;
  }

  const char* resized(const op& to, const op& from, std::uint64_t seed) {
    live_block& b = live_[to.slot];
    if (b.seed == 0) return "a reallocation without its allocation";
    if (!has_pattern(b.data, from.size, b.seed))
      return "contents written at the allocation are damaged at a resize";
    if (!shadow_.leave(b.data, from.size)) return "a reallocation of bytes that are not allocated";
    void* const moved = allocator_.reallocate(b.data, to, from);
    if (moved != nullptr && !has_pattern(moved, std::min(to.size, from.size), b.seed))
      return "contents are damaged by a resize";
    b.seed = 0;
    return allocated(moved, to, seed);
  }

  block_calls allocator_;
  harness::scratch memory_;
  live_block* live_;
  byte_shadow shadow_;
  bool exhausted_ = false;
};

}  // namespace

check_result check_pass(block_calls c, std::span<const op> ops, std::size_t slots) {
  return checker(c, slots).replay(ops);
}

}  // namespace mallard::replay
