#include "profile/compactness_meter.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <tuple>
#include <vector>

namespace mallard::profile {
namespace {

using row = std::tuple<std::uint32_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>;

std::vector<row> rows(const compactness_meter& meter) {
  std::vector<row> found;
  for (const compactness& c : meter.found())
    found.emplace_back(c.group, c.event, c.live_bytes, c.line_bytes, c.page_bytes);
  return found;
}

TEST(compactness_meter, blocks_at_known_addresses) {
  compactness_meter meter(2, 10, 1);
  meter.allocated(0, 0, 0x10000, 16);
  meter.allocated(1, 0, 0x10020, 16);   // the same line
  meter.allocated(2, 0, 0x10030, 17);   // and a byte of the next
  meter.allocated(3, 0, 0x10fc0, 128);  // the last line of the page, and the first of the next one
  meter.allocated(4, 1, 0x10050, 16);   // another group, on a line of the first
  meter.finish();
  EXPECT_EQ(rows(meter), std::vector<row>({{0, 5, 177, 4 * 64, 2 * 4096}, {1, 5, 16, 64, 4096}}));
}

TEST(compactness_meter, a_large_block_covers_all_of_its_lines) {
  compactness_meter meter(1, 10, 1);
  const std::uint64_t size = std::uint64_t{1} << 40;
  meter.allocated(0, 0, 0x7f0000000010, size);
  meter.allocated(1, 0, 0x7f0000000000, 16);
  meter.finish();
  EXPECT_EQ(rows(meter), std::vector<row>({{0, 5, size + 16, size + 64, size + 4096}}));
}

TEST(compactness_meter, what_was_freed_or_has_no_bytes_is_nowhere) {
  compactness_meter meter(1, 10, 1);
  meter.allocated(0, 0, 0x1000, 64);
  meter.allocated(1, 0, 0x2000, 0);
  meter.allocated(2, 0, 0x3000, 64);
  meter.freed(2);
  meter.finish();
  EXPECT_EQ(rows(meter), std::vector<row>({{0, 5, 64, 64, 4096}}));
}

TEST(compactness_meter, a_block_inside_another_adds_no_line) {
  compactness_meter meter(1, 10, 1);
  meter.allocated(0, 0, 0x1000, 8192);
  meter.allocated(1, 0, 0x1040, 64);
  meter.finish();
  EXPECT_EQ(rows(meter), std::vector<row>({{0, 5, 8256, 8192, 8192}}));
}

TEST(compactness_meter, the_last_byte_of_the_address_space_is_the_end) {
  compactness_meter meter(1, 10, 1);
  meter.allocated(0, 0, UINT64_MAX - 15, 1'000);
  meter.finish();
  EXPECT_EQ(rows(meter), std::vector<row>({{0, 5, 1'000, 64, 4096}}));
}

TEST(compactness_meter, moments_lie_in_the_middle_of_equal_parts) {
  compactness_meter meter(1, 100, 4);
  meter.allocated(0, 0, 0x1000, 1);
  meter.finish();
  EXPECT_EQ(rows(meter),
            std::vector<row>(
                {{0, 12, 1, 64, 4096}, {0, 37, 1, 64, 4096}, {0, 62, 1, 64, 4096}, {0, 87, 1, 64, 4096}}));
}

TEST(compactness_meter, a_moment_is_behind_its_event) {
  compactness_meter meter(1, 20, 2);  // 5 and 15
  meter.reached(5);
  meter.allocated(0, 0, 0x1000, 10);
  meter.reached(6);
  meter.allocated(1, 0, 0x2000, 20);
  meter.reached(15);
  meter.freed(0);
  meter.reached(16);
  meter.freed(1);
  meter.finish();
  EXPECT_EQ(rows(meter), std::vector<row>({{0, 5, 10, 64, 4096}, {0, 15, 20, 64, 4096}}));
}

TEST(compactness_meter, moments_on_the_same_event_are_one) {
  compactness_meter meter(1, 2, 32);
  meter.allocated(0, 0, 0x1000, 1);
  meter.finish();
  EXPECT_EQ(rows(meter), std::vector<row>({{0, 0, 1, 64, 4096}, {0, 1, 1, 64, 4096}}));
}

TEST(compactness_meter, without_moments_nothing_is_found) {
  compactness_meter meter(1, 100, 0);
  meter.allocated(0, 0, 0x1000, 1);
  meter.reached(50);
  meter.freed(0);
  meter.finish();
  EXPECT_TRUE(meter.found().empty());
}

TEST(compactness_meter, agrees_with_sets_of_lines_and_pages) {
  struct block {
    std::uint32_t group;
    std::uint64_t address, size;
  };
  std::mt19937_64 random(29);
  constexpr std::uint32_t groups = 4;
  constexpr std::uint64_t events = 3'000;
  constexpr std::uint32_t moments = 16;
  compactness_meter meter(groups, events, moments);
  std::set<std::uint64_t> at;
  for (std::uint64_t moment = 0; moment < moments; ++moment)
    at.insert((2 * moment + 1) * events / (2 * moments));
  std::map<std::uint32_t, block> live;  // by slot: a cell of 640 bytes each
  std::vector<row> expected;
  for (std::uint64_t event = 0; event < events; ++event) {
    meter.reached(event);
    const auto slot = static_cast<std::uint32_t>(random() % 400);
    if (live.erase(slot) != 0) {
      meter.freed(slot);
    } else {
      const auto group = static_cast<std::uint32_t>(random() % groups);
      const block b{
          .group = group, .address = 0x40000 + slot * 640 + random() % 20 * 16, .size = random() % 320};
      live[slot] = b;
      meter.allocated(slot, group, b.address, b.size);
    }
    if (!at.contains(event)) continue;
    for (std::uint32_t group = 0; group < groups; ++group) {
      std::uint64_t bytes = 0;
      std::set<std::uint64_t> lines, pages;
      for (const auto& [_, b] : live) {
        if (b.group != group) continue;
        bytes += b.size;
        for (std::uint64_t byte = b.address; byte < b.address + b.size; ++byte) {
          lines.insert(byte / 64);
          pages.insert(byte / 4096);
        }
      }
      if (bytes != 0) expected.emplace_back(group, event, bytes, lines.size() * 64, pages.size() * 4096);
    }
  }
  meter.finish();
  EXPECT_EQ(rows(meter), expected);
  EXPECT_EQ(expected.size(), moments * groups);
}

}  // namespace
}  // namespace mallard::profile
