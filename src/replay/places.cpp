#include "replay/places.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <vector>

namespace mallard::replay {
namespace {

// What the object born at an allocation comes to, reallocations included.
struct extent {
  std::uint64_t size;
  std::uint64_t align;
};

std::uint64_t class_size(const extent& e) {
  const std::uint64_t size = std::max<std::uint64_t>(e.size, 1);
  const std::uint64_t step = size <= 1024 ? 16 : std::bit_floor(size - 1) / 8;
  return align_up(align_up(size, step), std::max<std::uint64_t>(e.align, 16));
}

std::vector<extent> extents_of(std::span<const op> ops, std::size_t slots, std::size_t allocations) {
  std::vector<extent> result;
  result.reserve(allocations);
  std::vector<std::size_t> born(slots);  // by slot: which allocation is in it
  for (const op& o : ops) {
    switch (o.kind) {
      case op_kind::allocate:
      case op_kind::allocate_aligned:
        born[o.slot] = result.size();
        result.push_back({o.size, o.align()});
        break;
      case op_kind::reallocate: {
        extent& e = result[born[o.slot]];
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

// Free places by class: (size, alignment).
class free_places {
 public:
  using list = std::vector<std::uint64_t>;

  list& of(std::uint64_t size, std::uint64_t align) {
    if (size <= 1024 && align <= 16) return small_[size / 16];
    return others_[{size, align}];
  }

 private:
  std::vector<list> small_ = std::vector<list>(1024 / 16 + 1);
  std::map<std::pair<std::uint64_t, std::uint64_t>, list> others_;
};

}  // namespace

std::uint64_t assign_places(std::span<const op> ops, std::size_t slots, std::span<std::uint64_t> places) {
  const std::vector<extent> extents = extents_of(ops, slots, places.size());
  struct occupied {
    free_places::list* home;
    std::uint64_t place;
  };
  std::vector<occupied> in_slot(slots);
  free_places free;
  std::uint64_t end = 0;
  std::size_t born = 0;
  for (const op& o : ops) {
    if (o.kind == op_kind::deallocate) {
      in_slot[o.slot].home->push_back(in_slot[o.slot].place);
    } else if (o.kind == op_kind::allocate || o.kind == op_kind::allocate_aligned) {
      const extent& e = extents[born];
      const std::uint64_t size = class_size(e);
      free_places::list& list = free.of(size, std::max<std::uint64_t>(e.align, 16));
      if (list.empty()) {
        const std::uint64_t start = align_up(end, std::max<std::uint64_t>(e.align, 16));
        list.push_back(start);
        end = start + size;
      }
      places[born] = list.back();
      list.pop_back();
      in_slot[o.slot] = {&list, places[born]};
      ++born;
    }
  }
  return end;
}

}  // namespace mallard::replay
