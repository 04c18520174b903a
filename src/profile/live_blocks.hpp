// live_blocks: which blocks are alive at one point of a journal, and how large they are.
//
// An address can be handed out again before its free was recorded, where threads race to be recorded:
// add() then ends the old block, and its late free ends nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "journal/events/flat_table.hpp"

namespace mallard::profile {

class live_blocks {
 public:
  // The block at `address`, not 0, begins; returns the size of the one that ends by it, if there is one.
  std::optional<std::uint64_t> add(std::uint64_t address, std::uint64_t size) {
    if (auto* const found = blocks_.find(address)) {
      ++found->value.late_frees;
      return std::exchange(found->value.size, size);
    }
    blocks_.insert(address, {.size = size});
    return {};
  }

  // What a free of `address` means.
  enum class end { of_block, late, unmatched };

  // The block at `address` ends; `size` becomes its size if it is `of_block`.
  end remove(std::uint64_t address, std::uint64_t& size) {
    auto* const found = blocks_.find(address);
    if (found == nullptr) return end::unmatched;
    if (found->value.late_frees != 0) {
      --found->value.late_frees;
      return end::late;
    }
    size = found->value.size;
    blocks_.erase(found);
    return end::of_block;
  }

  [[nodiscard]] std::size_t count() const noexcept { return blocks_.size(); }

 private:
  struct block {
    std::uint64_t size = 0;
    std::uint64_t late_frees = 0;  // still to come, of blocks that had the address before
  };

  journal::flat_table<std::uint64_t, block> blocks_;  // by address
};

}  // namespace mallard::profile
