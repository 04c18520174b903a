// tagged_region: memory of a test's own as one free block with an end behind it, as a chunk has them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "mallard/core/boundary_tag.hpp"

namespace mallard {

template <std::size_t Room>
class tagged_region {
 public:
  tagged_region() {
    first()->set_free(Room);
    first()->at(Room)->set_end(Room);
  }

  [[nodiscard]] boundary_tag* first() {
    return reinterpret_cast<boundary_tag*>(bytes_.data() + boundary_tag::granule - boundary_tag::overhead);
  }

  // Divides all of it into used blocks of `size` bytes, the last one of what is left, and returns the first.
  boundary_tag* divide(std::size_t size) {
    boundary_tag* b = first();
    for (std::size_t left = Room; left != 0; b = b->next()) {
      const std::size_t part = std::min(left, size);
      b->set_used(part);
      left -= part;
    }
    b->mark_previous_used();
    return first();
  }

 private:
  static_assert(Room % boundary_tag::granule == 0);
  alignas(boundary_tag::granule) std::array<std::byte, Room + 2 * boundary_tag::granule> bytes_;
};

}  // namespace mallard
