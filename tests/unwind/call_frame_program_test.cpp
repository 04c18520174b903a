// What each instruction of a call frame program does to a row, in the ways that compilers here never
// write as well.
#include "unwind/call_frame_program.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <optional>
#include <vector>

namespace mallard::unwind {
namespace {

using bytes = std::vector<std::uint8_t>;

constexpr std::uintptr_t function_begin = 0x1000;
const bytes usual_beginning = {0x0c, 7, 8, 0x90, 1};  // CFA = sp + 8, pc at CFA - 8

dwarf_reader reader_of(const bytes& program) { return {program.data(), program.data() + program.size()}; }

// The row at an offset into the function; nothing if its program makes no sense.
std::optional<frame_row> row_at(const bytes& program, std::uintptr_t offset = 0,
                                const bytes& beginning = usual_beginning) {
  frame_description function{};
  function.function_begin = function_begin;
  function.function_end = function_begin + 0x100000;
  function.code_alignment = 2;
  function.data_alignment = static_cast<std::uint64_t>(-8);
  function.initial_program = reader_of(beginning);
  function.program = reader_of(program);
  frame_row row;
  if (!find_row(function, function_begin + offset, row)) return std::nullopt;
  return row;
}

std::int64_t offset_of(const register_rule& rule) { return static_cast<std::int64_t>(rule.offset); }
std::int64_t cfa_offset_of(const bytes& program, std::uintptr_t offset) {
  const std::optional<frame_row> row = row_at(program, offset);
  return row ? static_cast<std::int64_t>(row->cfa_offset) : -1;
}

TEST(call_frame_program, begins_with_its_cie) {
  const frame_row row = row_at({}).value();
  EXPECT_EQ(row.cfa, cfa_from::sp);
  EXPECT_EQ(row.cfa_offset, 8u);
  EXPECT_EQ(row.pc.how, value_of::memory_at_cfa);
  EXPECT_EQ(offset_of(row.pc), -8);
  EXPECT_EQ(row.bp.how, value_of::unchanged);
  EXPECT_EQ(row.sp.how, value_of::cfa_plus);
}

TEST(call_frame_program, advances_in_units_of_code) {
  const bytes cfa_16 = {0x0e, 16};
  const std::vector<std::pair<bytes, std::uintptr_t>> advances = {
      {{0x43}, 6}, {{0x02, 100}, 200}, {{0x03, 0x10, 0x01}, 544}, {{0x04, 0, 0, 1, 0}, 0x20000}};
  for (const auto& [advance, distance] : advances) {
    bytes program = advance;
    program.insert(program.end(), cfa_16.begin(), cfa_16.end());
    EXPECT_EQ(cfa_offset_of(program, distance - 1), 8);
    EXPECT_EQ(cfa_offset_of(program, distance), 16);
  }
}

TEST(call_frame_program, goes_to_a_location) {
  const bytes program = {0x01, 0x10, 0x10, 0, 0, 0, 0, 0, 0, 0x0e, 16};  // absolute: begin + 0x10
  EXPECT_EQ(cfa_offset_of(program, 0x0f), 8);
  EXPECT_EQ(cfa_offset_of(program, 0x10), 16);
}

TEST(call_frame_program, defines_the_cfa) {
  EXPECT_EQ(row_at({0x0c, 6, 0x90, 1})->cfa, cfa_from::bp);
  EXPECT_EQ(row_at({0x0c, 6, 0x90, 1})->cfa_offset, 144u);
  EXPECT_EQ(row_at({0x0d, 6})->cfa, cfa_from::bp);
  EXPECT_EQ(row_at({0x0d, 6})->cfa_offset, 8u);
  EXPECT_EQ(row_at({0x0d, 3})->cfa, cfa_from::other_register);
  EXPECT_EQ(row_at({0x12, 7, 0x7d})->cfa_offset, 24u);  // -3 * -8
  EXPECT_EQ(row_at({0x13, 0x7e})->cfa_offset, 16u);
  const frame_row row = row_at({0x0f, 2, 0x76, 0x78}).value();
  EXPECT_EQ(row.cfa, cfa_from::expression);
  EXPECT_EQ(row.cfa_expression.left(), 2u);
  EXPECT_EQ(row_at({0x0f, 2, 0x76, 0x78, 0x0c, 7, 8})->cfa, cfa_from::sp);
}

TEST(call_frame_program, tells_where_registers_are) {
  const auto bp = [](const bytes& program) { return row_at(program).value().bp; };
  EXPECT_EQ(bp({0x86, 2}).how, value_of::memory_at_cfa);
  EXPECT_EQ(offset_of(bp({0x86, 2})), -16);
  EXPECT_EQ(offset_of(bp({0x05, 6, 3})), -24);
  EXPECT_EQ(offset_of(bp({0x11, 6, 0x7f})), 8);
  EXPECT_EQ(offset_of(bp({0x2f, 6, 2})), 16);
  EXPECT_EQ(bp({0x14, 6, 2}).how, value_of::cfa_plus);
  EXPECT_EQ(offset_of(bp({0x14, 6, 2})), -16);
  EXPECT_EQ(offset_of(bp({0x15, 6, 0x7e})), 16);
  EXPECT_EQ(bp({0x07, 6}).how, value_of::undefined);
  EXPECT_EQ(bp({0x07, 6, 0x08, 6}).how, value_of::unchanged);
  EXPECT_EQ(bp({0x09, 6, 3}).how, value_of::other_register);
  EXPECT_EQ(bp({0x10, 6, 2, 0x76, 0}).how, value_of::memory_at_result);
  EXPECT_EQ(bp({0x16, 6, 2, 0x76, 0}).how, value_of::result);
  EXPECT_EQ(bp({0x16, 6, 2, 0x76, 0}).expression.left(), 2u);
}

TEST(call_frame_program, skips_registers_that_no_walk_needs) {
  const bytes program = {0x83, 2, 0x05, 12, 3,    0x10, 13,   2,  0x76, 0, 0x09,
                         14,   0, 0x2e, 16, 0x00, 0xc3, 0x06, 12, 0x0e, 32};
  EXPECT_EQ(cfa_offset_of(program, 0), 32);
  EXPECT_EQ(row_at(program)->bp.how, value_of::unchanged);
}

TEST(call_frame_program, restores_what_the_cie_said) {
  const bytes beginning = {0x0c, 7, 8, 0x90, 1, 0x86, 5};
  EXPECT_EQ(offset_of(row_at({0x86, 2}, 0, beginning)->bp), -16);
  EXPECT_EQ(offset_of(row_at({0x86, 2, 0xc6}, 0, beginning)->bp), -40);
  EXPECT_EQ(offset_of(row_at({0x86, 2, 0x06, 6}, 0, beginning)->bp), -40);
}

TEST(call_frame_program, remembers_states) {
  const bytes program = {0x0a, 0x0e, 16, 0x86, 2, 0x0a, 0x0e, 24, 0x41, 0x0b, 0x41, 0x0b};
  EXPECT_EQ(cfa_offset_of(program, 0), 24);
  EXPECT_EQ(cfa_offset_of(program, 2), 16);
  EXPECT_EQ(row_at(program, 2)->bp.how, value_of::memory_at_cfa);
  EXPECT_EQ(cfa_offset_of(program, 4), 8);
  EXPECT_EQ(row_at(program, 4)->bp.how, value_of::unchanged);
}

TEST(call_frame_program, is_refused_when_it_makes_no_sense) {
  EXPECT_FALSE(row_at({0x0b}));          // nothing was remembered
  EXPECT_FALSE(row_at(bytes(9, 0x0a)));  // too much is
  EXPECT_TRUE(row_at(bytes(8, 0x0a)));
  EXPECT_FALSE(row_at({0x3f, 0}));                 // no such instruction
  EXPECT_FALSE(row_at({0x0f, 1, 0x30, 0x0e, 8}));  // an offset from an expression
  EXPECT_FALSE(row_at({0x0f, 1, 0x30, 0x0d, 6}));  // a register for one
  EXPECT_FALSE(row_at({0x0e}));                    // cut off
  EXPECT_FALSE(row_at({0x0e, 0x80}));
  EXPECT_FALSE(row_at({0x0f, 5, 0x30}));
  EXPECT_FALSE(row_at({0x04, 1, 0}));
}

}  // namespace
}  // namespace mallard::unwind
