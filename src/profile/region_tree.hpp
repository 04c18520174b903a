// region_tree: the regions that live, what is alive in each, and which lies in which.
//
//     id --> place --> number, parent, inner regions, blocks: youngest -> older -> older ...
//     (number, address) --> slot of the block
//
// A place is a region's index among the living, taken again after its end; its number is never taken
// again. A move that would put a region inside itself is rejected. Cost: one or two look-ups an operation;
// ending a region: what is in it; moving one that has inner regions: the depth of where it goes.
#pragma once

#include <cstdint>
#include <vector>

#include "journal/events/flat_table.hpp"

namespace mallard::profile {

struct region_block {
  std::uint64_t address = 0;
  std::uint32_t region = 0;  // its number

  friend bool operator==(const region_block&, const region_block&) = default;
};

[[nodiscard]] constexpr std::uint64_t scatter(const region_block& block) noexcept {
  return journal::scatter(block.address ^ (std::uint64_t{block.region} << 40));
}

class region_tree {
 public:
  static constexpr std::uint32_t none = UINT32_MAX;

  // The place of the living region `id`, or none.
  [[nodiscard]] std::uint32_t find(std::uint64_t id);

  // A region begins; `id`, which is not 0, names none that lives. Throws journal::error at the 2^32nd.
  std::uint32_t begin(std::uint64_t id, std::uint32_t parent);

  // It becomes an inner region of `parent`, or of none. False, and nothing is changed, where that is inside
  // it, or is itself.
  bool move(std::uint32_t place, std::uint32_t parent);

  [[nodiscard]] std::uint32_t number(std::uint32_t place) const { return regions_[place].number; }

  // The slot of the block at `address` in the region at `place`, or none.
  [[nodiscard]] std::uint32_t find_block(std::uint32_t place, std::uint64_t address);

  // Precondition: there is no block at that address in this region; 0 is no address.
  void add_block(std::uint32_t place, std::uint64_t address, std::uint32_t slot);

  // The block in `slot` ends, which is in this region.
  void remove_block(std::uint32_t place, std::uint32_t slot);

  // What ends with the contents of a region.
  struct contents {
    std::vector<std::uint32_t> slots;    // of blocks, in no order
    std::vector<std::uint32_t> numbers;  // of inner regions, outer ones first
  };

  // Takes everything out of the region at `place`; valid until the next call.
  const contents& clear(std::uint32_t place);

  // The region at `place`, which is empty, ends.
  void end(std::uint32_t place);

 private:
  struct region {
    std::uint64_t id = 0;
    std::uint32_t number = 0;
    std::uint32_t parent = none;
    std::uint32_t first_inner = none;
    std::uint32_t before = none;  // its neighbours among the parent's inner regions
    std::uint32_t behind = none;
    std::uint32_t youngest = none;  // slot
  };
  struct block {
    std::uint64_t address = 0;
    std::uint32_t older = none;  // slots of its neighbours in the region
    std::uint32_t younger = none;
  };

  [[nodiscard]] bool is_inside(std::uint32_t place, std::uint32_t outer) const;
  void link(std::uint32_t place, std::uint32_t parent);
  void unlink(std::uint32_t place);
  void take_blocks(std::uint32_t place);

  std::vector<region> regions_;  // by place
  std::vector<std::uint32_t> free_places_;
  std::vector<block> blocks_;  // by slot
  journal::flat_table<std::uint64_t, std::uint32_t> places_;
  journal::flat_table<region_block, std::uint32_t> slots_;
  std::uint32_t last_number_ = 0;
  contents taken_;
  std::vector<std::uint32_t> inwards_;  // places still to be walked
};

}  // namespace mallard::profile
