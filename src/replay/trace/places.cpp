#include "replay/trace/places.hpp"

#include <algorithm>
#include <bit>
#include <vector>

namespace mallard::replay {
namespace {

// `align` is 16 or more.
std::uint64_t class_size(std::uint64_t asked, std::uint64_t align) {
  const std::uint64_t size = std::max<std::uint64_t>(asked, 1);
  const std::uint64_t step = size <= 1024 ? 16 : std::bit_floor(size - 1) / 8;
  return align_up(align_up(size, step), align);
}

}  // namespace

std::vector<extent> extents_of(std::span<const op> ops, std::size_t slots, std::size_t allocations) {
  std::vector<extent> result;
  result.reserve(allocations);
  std::vector<std::size_t> allocation_in(slots);  // by slot: which allocation is in it
  for (const op& o : ops) {
    switch (o.kind) {
      case op_kind::allocate:
      case op_kind::allocate_aligned:
      case op_kind::allocate_zeroed:
        allocation_in[o.slot] = result.size();
        result.push_back({o.size, o.align()});
        break;
      case op_kind::reallocate: {
        extent& e = result[allocation_in[o.slot]];
        e = {std::max(e.size, o.size), std::max<std::uint64_t>(e.align, o.align())};
        break;
      }
      case op_kind::deallocate:
      case op_kind::resized_from:
        break;
    }
  }
  return result;
}

place_table::list& place_table::free_of(std::uint64_t size, std::uint64_t align) {
  if (size <= 1024 && align <= 16) return small_[size / 16];
  return others_[{size, align}];
}

place_table::place place_table::take(std::uint64_t asked, std::uint64_t asked_align) {
  const std::uint64_t align = std::max<std::uint64_t>(asked_align, 16);
  const std::uint64_t size = class_size(asked, align);
  list& free = free_of(size, align);
  if (free.empty()) {
    const std::uint64_t start = align_up(end_, align);
    end_ = start + size;
    return {start, &free};
  }
  const place p{free.back(), &free};
  free.pop_back();
  return p;
}

std::uint64_t assign_places(std::span<const op> ops, std::size_t slots, std::span<std::uint64_t> places) {
  const std::vector<extent> extents = extents_of(ops, slots, places.size());
  std::vector<place_table::place> in_slot(slots);
  place_table table;
  std::size_t allocation = 0;
  for (const op& o : ops) {
    if (o.kind == op_kind::deallocate) {
      table.give_back(in_slot[o.slot]);
    } else if (is_allocation(o.kind)) {
      const extent& e = extents[allocation];
      in_slot[o.slot] = table.take(e.size, e.align);
      places[allocation++] = in_slot[o.slot].offset;
    }
  }
  return table.end();
}

}  // namespace mallard::replay
