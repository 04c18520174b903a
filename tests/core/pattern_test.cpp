#include "mallard/core/pattern.hpp"

#include <gtest/gtest.h>

#include <array>

namespace mallard {
namespace {

TEST(Pattern, FindsTheFirstByteThatChangedWhereverItIs) {
  std::array<std::byte, 40> bytes;
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    fill(bytes.data(), bytes.size(), pattern::canary);
    EXPECT_EQ(first_other(bytes.data(), size, pattern::canary), nullptr);
    for (std::size_t at = 0; at < size; ++at) {
      fill(bytes.data(), bytes.size(), pattern::canary);
      bytes[at] = std::byte{0};
      bytes[size - 1] = std::byte{0};
      EXPECT_EQ(first_other(bytes.data(), size, pattern::canary), &bytes[at]);
    }
  }
}

TEST(Pattern, IsNotTakenForAnother) {
  std::array<std::byte, 8> bytes;
  for (const pattern written : {pattern::canary, pattern::fresh, pattern::freed})
    for (const pattern expected : {pattern::canary, pattern::fresh, pattern::freed}) {
      fill(bytes.data(), bytes.size(), written);
      EXPECT_EQ(first_other(bytes.data(), bytes.size(), expected) == nullptr, written == expected);
    }
}

TEST(Pattern, FillsNoByteMore) {
  std::array<std::byte, 8> bytes{};
  fill(&bytes[2], 4, pattern::freed);
  EXPECT_EQ(bytes[1], std::byte{0});
  EXPECT_EQ(bytes[6], std::byte{0});
  EXPECT_EQ(first_other(&bytes[2], 5, pattern::freed), &bytes[6]);
}

}  // namespace
}  // namespace mallard
