#include "mallard/journal/layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string_view>

namespace mallard::journal {
namespace {

TEST(layout, a_section_type_reads_as_its_name_in_the_file) {
  const auto code = static_cast<std::uint32_t>(make_section_type("evnt"));
  const char in_the_file[] = {static_cast<char>(code), static_cast<char>(code >> 8),
                              static_cast<char>(code >> 16), static_cast<char>(code >> 24)};
  EXPECT_EQ(std::string_view(in_the_file, 4), "evnt");
}

TEST(layout, section_types_differ) {
  const std::set<section_type> types = {sections::metadata, sections::events,   sections::contexts,
                                        sections::threads,  sections::modules,  sections::names,
                                        sections::usage,    sections::children, sections::end};
  EXPECT_EQ(types.size(), 9U);
}

// Neither mark can begin a text file, and the one is not found inside the other.
TEST(layout, marks_are_no_text) {
  EXPECT_GE(file_magic[0], 0x80);
  EXPECT_GE(section_marker[0], 0x80);
  EXPECT_EQ(std::search(file_magic.begin(), file_magic.end(), section_marker.begin(), section_marker.end()),
            file_magic.end());
}

TEST(layout, a_full_section_keeps_every_limit_at_once) {
  EXPECT_LE(max_section_rows * 8, max_column_size) << "raw values of all rows fit a column";
  EXPECT_LE(max_column_size, max_section_size);
}

}  // namespace
}  // namespace mallard::journal
