// live_blocks: which blocks are alive at one point of a journal, and how large they are.
//
// Open addressing by address, deletion by shifting back, so a look-up touches one or two lines.
// An address can be handed out again before its free was noted, where threads race to be recorded:
// add() then ends the old block, and its late free ends nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace mallard::journal {

class live_blocks {
 public:
  // The block at `address`, not 0, begins; returns the size of the one that ends by it, if there is one.
  std::optional<std::uint64_t> add(std::uint64_t address, std::uint64_t size) {
    if (2 * (count_ + 1) > slots_.size()) grow();
    slot& found = slots_[find(address)];
    if (found.address == address) {
      ++late_frees_[address];
      const std::uint64_t ended = found.size;
      found.size = size;
      return ended;
    }
    found = {.address = address, .size = size};
    ++count_;
    return {};
  }

  // What a free of `address` means.
  enum class end { of_block, late, unmatched };

  // The block at `address` ends; `size` becomes its size if it is `of_block`.
  end remove(std::uint64_t address, std::uint64_t& size) {
    if (address == 0) return end::unmatched;  // the mark of a free slot
    if (!late_frees_.empty()) {
      if (const auto late = late_frees_.find(address); late != late_frees_.end()) {
        if (--late->second == 0) late_frees_.erase(late);
        return end::late;
      }
    }
    const std::size_t at = find(address);
    if (slots_[at].address != address) return end::unmatched;
    size = slots_[at].size;
    close_gap(at);
    --count_;
    return end::of_block;
  }

  [[nodiscard]] std::size_t count() const noexcept { return count_; }

 private:
  struct slot {
    std::uint64_t address = 0;  // 0: free
    std::uint64_t size = 0;
  };

  [[nodiscard]] std::size_t home(std::uint64_t address) const noexcept {
    return static_cast<std::size_t>((address * 0x9e3779b97f4a7c15U) >> 20) & (slots_.size() - 1);
  }

  // The slot of `address`, or the free one where it belongs.
  [[nodiscard]] std::size_t find(std::uint64_t address) const noexcept {
    std::size_t at = home(address);
    while (slots_[at].address != 0 && slots_[at].address != address) at = (at + 1) & (slots_.size() - 1);
    return at;
  }

  // Frees the slot `gap`, moving up those behind it that could not have their own place.
  void close_gap(std::size_t gap) noexcept {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = (gap + 1) & mask; slots_[at].address != 0; at = (at + 1) & mask) {
      if (((at - home(slots_[at].address)) & mask) < ((at - gap) & mask)) continue;
      slots_[gap] = slots_[at];
      gap = at;
    }
    slots_[gap] = slot{};
  }

  void grow() {
    std::vector<slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const slot& s : old) {
      if (s.address != 0) slots_[find(s.address)] = s;
    }
  }

  std::vector<slot> slots_ = std::vector<slot>(1U << 12);
  std::size_t count_ = 0;
  std::unordered_map<std::uint64_t, std::uint64_t> late_frees_;  // how many are still to come
};

}  // namespace mallard::journal
