// compactness_meter: how tightly the live bytes of each group lie, at moments spread over the events.
//
//     events    |---x-------x-------x-------x---|        in the middle of equal parts
//     lines     [#### ][     ][  ##][######][#    ]      11 live bytes on 4 lines of them
//
// At a moment the live blocks are sorted by address and walked once for all groups: a group's block adds
// the lines and pages behind the last ones that the group has. A block counts by its ends, however large
// it is. An object without bytes is nowhere.
//
// Cost: two stores an object, and a sort of the live ones a moment; 24 bytes a slot, and as many a live one.
// None without moments.
#pragma once

#include <cstdint>
#include <vector>

namespace mallard::profile {

// One moment of one group: its live bytes, and the bytes of the lines (64) and of the pages (4096) that
// hold any of them.
struct compactness {
  std::uint32_t group = 0;
  std::uint64_t event = 0;
  std::uint64_t live_bytes = 0;
  std::uint64_t line_bytes = 0;
  std::uint64_t page_bytes = 0;
};

class compactness_meter {
 public:
  static constexpr unsigned line_bits = 6;
  static constexpr unsigned page_bits = 12;

  // Moments that fall on the same event are one.
  compactness_meter(std::uint32_t groups, std::uint64_t events, std::uint32_t moments);

  // To be called first with the event of what follows: the moments before it are looked at.
  void reached(std::uint64_t event) {
    if (event > next_) look_until(event);
  }

  void allocated(std::uint32_t slot, std::uint32_t group, std::uint64_t address, std::uint64_t size) {
    if (moments_ == 0) return;
    if (slot >= blocks_.size()) blocks_.resize(slot + std::size_t{1});
    blocks_[slot] = {.address = address, .size = size, .group = group};
  }

  void freed(std::uint32_t slot) {
    if (moments_ != 0) blocks_[slot].size = 0;
  }

  // Nothing happens any more: what is left of the moments is looked at.
  void finish() { look_until(UINT64_MAX); }

  // By moment, then by group; only groups with live bytes.
  [[nodiscard]] const std::vector<compactness>& found() const noexcept { return found_; }

 private:
  struct block {
    std::uint64_t address = 0;
    std::uint64_t size = 0;  // 0: none
    std::uint32_t group = 0;
  };

  void look_until(std::uint64_t event);
  void look(std::uint64_t event);
  [[nodiscard]] std::uint64_t event_of(std::uint32_t moment) const noexcept;

  std::uint32_t groups_;
  std::uint64_t events_;
  std::uint32_t moments_;
  std::uint32_t moment_ = 0;   // the next
  std::uint64_t next_;         // its event
  std::vector<block> blocks_;  // by slot
  std::vector<block> live_;    // by address, during a look
  std::vector<compactness> found_;
};

}  // namespace mallard::profile
