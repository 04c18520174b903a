// What each operation of an expression does, and that none reads or runs further than it may.
#include "unwind/frame_expression.hpp"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <vector>

namespace mallard::unwind {
namespace {

using bytes = std::vector<std::uint8_t>;

class frame_expression : public testing::Test {
 protected:
  std::optional<std::uint64_t> result_of(const bytes& code, std::optional<std::uint64_t> start = {}) {
    stack_reader memory(stack_, step_);
    std::uint64_t result = 0;
    const dwarf_reader reader(code.data(), code.data() + code.size());
    if (!evaluate(reader, frame_, memory, start ? &*start : nullptr, result)) return std::nullopt;
    return result;
  }

  std::array<std::uintptr_t, 16> words_ = {10, 11, 12, 13, 14, 15, 16, 17, 18, 19};
  const std::uintptr_t begin_ = reinterpret_cast<std::uintptr_t>(words_.data());
  stack_range stack_{begin_, begin_ + sizeof words_};
  frame_registers frame_{0x4000, begin_, begin_ + 32, false};
  frame_step step_{};
};

constexpr std::uint64_t minus(std::uint64_t value) { return -value; }

TEST_F(frame_expression, pushes_constants) {
  EXPECT_EQ(result_of({0x30}), 0u);
  EXPECT_EQ(result_of({0x4f}), 31u);
  EXPECT_EQ(result_of({0x08, 0xff}), 255u);
  EXPECT_EQ(result_of({0x09, 0xff}), minus(1));
  EXPECT_EQ(result_of({0x0a, 0x01, 0xff}), 0xff01u);
  EXPECT_EQ(result_of({0x0b, 0x01, 0xff}), minus(255));
  EXPECT_EQ(result_of({0x0c, 0, 0, 0, 0x80}), 0x80000000u);
  EXPECT_EQ(result_of({0x0d, 0, 0, 0, 0x80}), minus(0x80000000));
  EXPECT_EQ(result_of({0x0e, 1, 0, 0, 0, 0, 0, 0, 0x80}), 0x8000000000000001u);
  EXPECT_EQ(result_of({0x0f, 1, 0, 0, 0, 0, 0, 0, 0x80}), 0x8000000000000001u);
  EXPECT_EQ(result_of({0x03, 1, 2, 0, 0, 0, 0, 0, 0}), 0x201u);
  EXPECT_EQ(result_of({0x10, 0x90, 0x01}), 144u);
  EXPECT_EQ(result_of({0x11, 0x7f}), minus(1));
}

TEST_F(frame_expression, knows_the_registers_of_a_walk) {
  EXPECT_EQ(result_of({0x77, 8}), begin_ + 8);       // sp
  EXPECT_EQ(result_of({0x76, 0x78}), begin_ + 24);   // bp - 8
  EXPECT_EQ(result_of({0x80, 0}), 0x4000u);          // pc
  EXPECT_EQ(result_of({0x92, 7, 16}), begin_ + 16);  // sp, by number
  EXPECT_EQ(result_of({0x73, 0}), std::nullopt);     // another one
  frame_.bp_is_lost = true;
  EXPECT_EQ(result_of({0x76, 0x78}), std::nullopt);
}

TEST_F(frame_expression, rearranges_its_stack) {
  EXPECT_EQ(result_of({0x31, 0x32, 0x12, 0x22}), 4u);     // 1 2 dup plus
  EXPECT_EQ(result_of({0x31, 0x32, 0x13}), 1u);           // drop
  EXPECT_EQ(result_of({0x31, 0x32, 0x14}), 1u);           // over
  EXPECT_EQ(result_of({0x31, 0x32, 0x33, 0x15, 2}), 1u);  // pick
  EXPECT_EQ(result_of({0x31, 0x35, 0x16, 0x1c}), 4u);     // swap minus: 5 - 1
  EXPECT_EQ(result_of({0x31, 0x32, 0x33, 0x17}), 2u);     // rotate: 3 1 2
  EXPECT_EQ(result_of({0x31, 0x32, 0x33, 0x17, 0x13}), 1u);
  EXPECT_EQ(result_of({0x31, 0x32, 0x33, 0x17, 0x13, 0x13}), 3u);
}

TEST_F(frame_expression, computes) {
  const auto of = [&](std::uint8_t operation, std::int8_t left, std::int8_t right) {
    return result_of(
        {0x09, static_cast<std::uint8_t>(left), 0x09, static_cast<std::uint8_t>(right), operation});
  };
  EXPECT_EQ(of(0x1a, 12, 10), 8u);
  EXPECT_EQ(of(0x21, 12, 10), 14u);
  EXPECT_EQ(of(0x27, 12, 10), 6u);
  EXPECT_EQ(of(0x22, 12, 10), 22u);
  EXPECT_EQ(of(0x1c, 12, 10), 2u);
  EXPECT_EQ(of(0x1e, 12, -10), minus(120));
  EXPECT_EQ(of(0x1b, -12, 5), minus(2));
  EXPECT_EQ(of(0x1b, 12, 0), std::nullopt);
  EXPECT_EQ(of(0x1d, 12, 5), 2u);
  EXPECT_EQ(of(0x1d, 12, 0), std::nullopt);
  EXPECT_EQ(of(0x24, 3, 4), 48u);
  EXPECT_EQ(of(0x24, 3, 64), 0u);
  EXPECT_EQ(of(0x25, -1, 63), 1u);
  EXPECT_EQ(of(0x25, -1, 64), 0u);
  EXPECT_EQ(of(0x26, -16, 2), minus(4));
  EXPECT_EQ(of(0x26, -16, 100), minus(1));
  EXPECT_EQ(result_of({0x39, 0x23, 5}), 14u);  // plus a constant
  EXPECT_EQ(result_of({0x39, 0x1f}), minus(9));
  EXPECT_EQ(result_of({0x39, 0x1f, 0x19}), 9u);
  EXPECT_EQ(result_of({0x39, 0x20}), ~std::uint64_t{9});
  const bytes smallest_over_minus_one = {0x0e, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x09, 0xff, 0x1b};
  EXPECT_EQ(result_of(smallest_over_minus_one), 0x8000000000000000u);
}

TEST_F(frame_expression, compares_as_signed_numbers) {
  const auto of = [&](std::uint8_t operation, std::int8_t left, std::int8_t right) {
    return result_of(
        {0x09, static_cast<std::uint8_t>(left), 0x09, static_cast<std::uint8_t>(right), operation});
  };
  const bytes operations = {0x29, 0x2a, 0x2b, 0x2c, 0x2d, 0x2e};  // == >= > <= < !=
  const bytes for_less = {0, 0, 0, 1, 1, 1};
  const bytes for_equal = {1, 1, 0, 1, 0, 0};
  const bytes for_greater = {0, 1, 1, 0, 0, 1};
  for (std::size_t i = 0; i < operations.size(); ++i) {
    EXPECT_EQ(of(operations[i], -1, 1), for_less[i]);
    EXPECT_EQ(of(operations[i], 3, 3), for_equal[i]);
    EXPECT_EQ(of(operations[i], 1, -1), for_greater[i]);
  }
}

TEST_F(frame_expression, jumps) {
  EXPECT_EQ(result_of({0x31, 0x2f, 1, 0, 0x32, 0x96}), 1u);              // over the 2
  EXPECT_EQ(result_of({0x35, 0x31, 0x28, 1, 0, 0x32}), 5u);              // taken
  EXPECT_EQ(result_of({0x35, 0x30, 0x28, 1, 0, 0x32}), 2u);              // not taken
  EXPECT_EQ(result_of({0x35, 0x31, 0x1c, 0x12, 0x28, 0xfa, 0xff}), 0u);  // back to count 5 down
  EXPECT_EQ(result_of({0x31, 0x2f, 0xfd, 0xff}), std::nullopt);          // forever
  EXPECT_EQ(result_of({0x31, 0x2f, 2, 0}), std::nullopt);                // beyond the end
  EXPECT_EQ(result_of({0x31, 0x2f, 0, 0x80}), std::nullopt);             // before the beginning
}

TEST_F(frame_expression, starts_with_what_it_is_given) {
  EXPECT_EQ(result_of({0x23, 8}, 100), 108u);
  EXPECT_EQ(result_of({}, 100), 100u);
}

TEST_F(frame_expression, reads_the_stack_and_tells_what_it_read) {
  EXPECT_EQ(result_of({0x77, 8, 0x06, 0x76, 0, 0x06, 0x22}), 25u);  // words 1 and 4
  ASSERT_EQ(step_.read_count, 2u);
  EXPECT_EQ(step_.reads[0].address, begin_ + 8);
  EXPECT_EQ(step_.reads[0].value, 11u);
  EXPECT_EQ(step_.reads[1].address, begin_ + 32);
  EXPECT_EQ(step_.reads[1].value, 14u);
}

TEST_F(frame_expression, reads_nothing_outside_of_the_stack) {
  stack_ = {begin_ + 16, begin_ + 32};
  EXPECT_EQ(result_of({0x77, 16, 0x06}), 12u);
  EXPECT_EQ(result_of({0x77, 24, 0x06}), 13u);
  EXPECT_EQ(result_of({0x77, 15, 0x06}), std::nullopt);
  EXPECT_EQ(result_of({0x77, 25, 0x06}), std::nullopt);
  EXPECT_EQ(result_of({0x77, 32, 0x06}), std::nullopt);
  EXPECT_EQ(result_of({0x30, 0x06}), std::nullopt);
  EXPECT_EQ(result_of({0x09, 0xff, 0x06}), std::nullopt);
}

TEST_F(frame_expression, reads_no_more_words_than_it_can_tell) {
  bytes code = {0x30};
  for (unsigned i = 0; i < frame_step::max_reads; ++i) code.insert(code.end(), {0x77, 0, 0x06, 0x22});
  EXPECT_EQ(result_of(code), 80u);
  code.insert(code.end(), {0x77, 0, 0x06, 0x22});
  EXPECT_EQ(result_of(code), std::nullopt);
}

TEST_F(frame_expression, is_refused_when_it_makes_no_sense) {
  EXPECT_EQ(result_of({}), std::nullopt);
  EXPECT_EQ(result_of({0x22}), std::nullopt);
  EXPECT_EQ(result_of({0x31, 0x22}), std::nullopt);
  EXPECT_EQ(result_of({0x31, 0x16}), std::nullopt);
  EXPECT_EQ(result_of({0x31, 0x32, 0x17}), std::nullopt);
  EXPECT_EQ(result_of({0x31, 0x15, 1}), std::nullopt);
  EXPECT_EQ(result_of({0x0e, 1, 2}), std::nullopt);  // cut off
  EXPECT_EQ(result_of({0x07}), std::nullopt);        // no such operations
  EXPECT_EQ(result_of({0x31, 0x31, 0xff}), std::nullopt);
  EXPECT_EQ(result_of(bytes(17, 0x31)), std::nullopt);  // too many values
  EXPECT_EQ(result_of(bytes(16, 0x31)), 1u);
}

}  // namespace
}  // namespace mallard::unwind
