// part_routes: which heap each event of a journal allocates from, where a part of the program is replayed.
//
//     FILE   [ 0 | 0 | 7 | 0 | 7 | 9 | 0 ]     a little-endian 32-bit number an event, in the journal's order
//     heap     0   0   1   0   1   2   0       in the order of their first events; 0: the baseline's malloc
//
// Numbers in the file name heaps, 65,534 at most, and need not be dense. Events that allocate nothing have 0.
// The largest number, 2^32 - 1, leaves an event out, as if the journal did not have it: so a few stretches of
// a long journal are replayed, with the blocks that live in these. A file that leaves out an allocation
// leaves out its free, too. A file that is not the journal's shows: it is no regular file, its length is
// another, or it routes an event that allocates nothing. Memory: 2 bytes an event.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace mallard::replay {

class part_routes {
 public:
  // What stands in the file for an event that is left out.
  static constexpr std::uint32_t out = std::numeric_limits<std::uint32_t>::max();

  // Reads the file. What is wrong with it is thrown, here and below, as a std::runtime_error of one line.
  explicit part_routes(const std::string& path);

  // The heap that an event allocates from.
  [[nodiscard]] std::uint16_t heap_of(std::uint64_t event, bool allocates) const {
    if (event >= heaps_of_events_.size()) return 0;  // expect_events() tells
    const std::uint16_t heap = heaps_of_events_[event];
    if (heap != 0 && !allocates) [[unlikely]]
      refuse_event(event);
    return heap;
  }

  [[nodiscard]] bool leaves_out(std::uint64_t event) const {
    return event < heaps_of_events_.size() && heaps_of_events_[event] == left_out;
  }

  // Refuses a file of another number of events than this.
  void expect_events(std::uint64_t events) const;

  // No event of the journal gets a block of its heaps.
  [[noreturn]] void refuse_as_empty() const;

  [[nodiscard]] std::size_t heaps() const noexcept { return heaps_; }

 private:
  static constexpr std::uint16_t left_out = std::numeric_limits<std::uint16_t>::max();

  void expect_file() const;
  [[noreturn]] void refuse(const std::string& why) const;
  [[noreturn]] void refuse_event(std::uint64_t event) const;

  std::string path_;
  std::vector<std::uint16_t> heaps_of_events_;
  std::size_t heaps_ = 0;
};

}  // namespace mallard::replay
