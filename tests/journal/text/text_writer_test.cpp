#include "journal/text/text_writer.hpp"
#include "journal/open.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "journal/binary/writer.hpp"
#include "scratch_folder.hpp"

namespace mallard::journal {
namespace {

TEST(text_writer, a_text_journal_comes_out_as_it_went_in) {
  const std::string lines = "a 24 5a0 700 100\nf 5a0 900 250\na 7 0 700 300\n";
  const test::temporary_file file(lines);
  std::ostringstream text;
  EXPECT_EQ(write_text(*open(file.path()), text).lines, 3U);
  EXPECT_EQ(text.str(), lines);
}

TEST(text_writer, reallocations_become_frees_and_allocations_and_regions_are_counted) {
  const test::temporary_file file;
  writer out(file.path());
  out.describe({.ticks_per_second = 2e9});
  (void)out.add_thread({.system_id = 5});
  out.append({.kind = event_kind::realloc, .time = 20, .address = 0x10, .size = 8});
  out.append({.kind = event_kind::realloc, .time = 40, .address = 0x20, .size = 16, .old_address = 0x10});
  out.append({.kind = event_kind::realloc, .time = 60, .size = 1000, .old_address = 0x20});  // failed
  out.append({.kind = event_kind::region_create, .time = 70, .region = 1});
  out.append({.kind = event_kind::realloc, .time = 80, .old_address = 0x20});  // to nothing
  out.finish();
  std::ostringstream text;
  const text_written written = write_text(*open(file.path()), text);
  EXPECT_EQ(text.str(), "a 8 10 5 10\nf 10 5 20\na 16 20 5 20\na 1000 0 5 30\nf 20 5 40\n");
  EXPECT_EQ(written.lines, 5U);
  EXPECT_EQ(written.left_out, 1U);
}

}  // namespace
}  // namespace mallard::journal
