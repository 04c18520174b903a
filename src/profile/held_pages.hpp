// held_pages: how many bytes of pages hold anything alive, which no heap could give back.
//
//     pages    |    a b|bbbbbbb|bb   c |       a, b and c alive: all three pages are held
//               shared   b's own  shared
//
// Live blocks do not overlap, so only the first and the last page of a block can be another's, too: those
// are counted by a table, the ones between by subtraction. Cost: at most two look-ups a birth or death,
// whatever a block's size.
#pragma once

#include <cstdint>

#include "journal/events/flat_table.hpp"

namespace mallard::profile {

class held_pages {
 public:
  static constexpr std::uint64_t page_bytes = 4096;

  void add(std::uint64_t address, std::uint64_t size) {
    const auto [first, last] = pages_of(address, size);
    hold(first);
    if (first == last) return;
    hold(last);
    pages_ += last - first - 1;
  }

  // Of a block that has been added.
  void remove(std::uint64_t address, std::uint64_t size) {
    const auto [first, last] = pages_of(address, size);
    release(first);
    if (first == last) return;
    release(last);
    pages_ -= last - first - 1;
  }

  [[nodiscard]] std::uint64_t bytes() const noexcept { return pages_ * page_bytes; }

 private:
  struct range {
    std::uint64_t first;
    std::uint64_t last;
  };

  // Numbers from 1, as the table wants its keys. A block of no bytes lies on a page, too.
  static range pages_of(std::uint64_t address, std::uint64_t size) noexcept {
    const std::uint64_t more = size == 0 ? 0 : size - 1;
    const std::uint64_t end = more > UINT64_MAX - address ? UINT64_MAX : address + more;
    return {address / page_bytes + 1, end / page_bytes + 1};
  }

  void hold(std::uint64_t page) {
    if (auto* const found = users_.find(page)) {
      ++found->value;
    } else {
      users_.insert(page, 1);
      ++pages_;
    }
  }

  void release(std::uint64_t page) {
    auto* const found = users_.find(page);
    if (--found->value != 0) return;
    users_.erase(found);
    --pages_;
  }

  journal::flat_table<std::uint64_t, std::uint64_t> users_;  // live blocks that begin or end there
  std::uint64_t pages_ = 0;
};

}  // namespace mallard::profile
