#include "journal/text/line_reader.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "journal/binary/sample_journal.hpp"
#include "journal/events/event_source.hpp"

namespace mallard::journal {
namespace {

line_reader lines_of(std::string_view text) {
  return line_reader(input(std::make_unique<memory_stream>(text)));
}

TEST(line_reader, numbers_lines_and_takes_their_ends_away) {
  line_reader lines = lines_of("one\r\n\ntwo \n\r\nlast");
  std::vector<std::string> found;
  std::string_view line;
  while (lines.next(line)) {
    found.emplace_back(line);
    EXPECT_EQ(lines.number(), found.size());
  }
  EXPECT_EQ(found, (std::vector<std::string>{"one", "", "two ", "", "last"}));
  EXPECT_FALSE(lines.next(line)) << "the end stays the end";
}

TEST(line_reader, a_line_may_have_1024_bytes_and_no_more) {
  const std::string longest(1024, 'x');
  std::string_view line;
  EXPECT_TRUE(lines_of(longest).next(line));
  EXPECT_TRUE(lines_of(longest + "\n").next(line));
  for (const std::string& text : {longest + "x", longest + "x\n", "\n" + longest + "x\n"}) {
    line_reader lines = lines_of(text);
    const std::string told = error_from([&] {
      while (lines.next(line)) {
      }
    });
    EXPECT_EQ(told, text.front() == '\n' ? "line 2: it is longer than 1024 bytes"
                                         : "line 1: it is longer than 1024 bytes");
  }
}

}  // namespace
}  // namespace mallard::journal
