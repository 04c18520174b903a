#include "journal/text/csapp_source.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "journal/binary/sample_journal.hpp"

namespace mallard::journal {
namespace {

constexpr const char* expected_operation = "expected 'a <id> <bytes>', 'r <id> <bytes>' or 'f <id>'";

journal_contents read_trace(std::string_view bytes) {
  csapp_source source(input(std::make_unique<memory_stream>(bytes)));
  return read_all(source);
}

std::string error_of_trace(std::string_view bytes) {
  return error_from([&] { read_trace(bytes); });
}

TEST(csapp_source, reads_allocations_reallocations_and_frees) {
  const journal_contents read = read_trace("20000\n2\n5\n1\na 0 512\na 1 20\nr 1 40\nf 0\nf 1\n");
  ASSERT_EQ(read.events.size(), 5U);
  const std::uint64_t first = read.events[0].address;
  const std::uint64_t second = read.events[1].address;
  const std::uint64_t moved = read.events[2].address;
  const std::vector<event> expected = {
      {.kind = event_kind::malloc, .time = 0, .address = first, .size = 512},
      {.kind = event_kind::malloc, .time = 1, .address = second, .size = 20},
      {.kind = event_kind::realloc, .time = 2, .address = moved, .size = 40, .old_address = second},
      {.kind = event_kind::free, .time = 3, .address = first},
      {.kind = event_kind::free, .time = 4, .address = moved},
  };
  EXPECT_EQ(read.events, expected);
  EXPECT_TRUE(read.complete);
  EXPECT_TRUE(read.warnings.empty());
}

TEST(csapp_source, says_that_times_and_addresses_are_made_up) {
  const journal_contents read = read_trace("1\n1\n1\n1\na 0 1\n");
  EXPECT_EQ(read.about.ticks_per_second, 1e6);
  EXPECT_EQ(read.about.facts.at("clock"), "none: one operation a microsecond");
  EXPECT_EQ(read.about.facts.at("addresses"), "none: one block behind the other, none twice");
  EXPECT_EQ(read.known.threads.size(), 1U);
}

TEST(csapp_source, blocks_lie_behind_each_other_and_no_address_comes_back) {
  const journal_contents read = read_trace("0\n0\n6\n0\na 0 0\na 1 16\na 2 17\nf 1\na 1 16\na 7 1\n");
  ASSERT_EQ(read.events.size(), 6U);
  const std::uint64_t first = read.events[0].address;
  EXPECT_EQ(first % 4096, 0U);
  EXPECT_EQ(read.events[1].address, first + 16) << "even a block of no bytes has a place of its own";
  EXPECT_EQ(read.events[2].address, first + 32);
  EXPECT_EQ(read.events[4].address, first + 64) << "not the one that was freed";
  EXPECT_EQ(read.events[5].address, first + 80);
}

TEST(csapp_source, a_reallocation_stays_while_its_16_bytes_suffice) {
  const journal_contents read = read_trace("0\n1\n5\n0\na 0 20\nr 0 32\nr 0 3\nr 0 31\nr 0 33\n");
  ASSERT_EQ(read.events.size(), 5U);
  for (const std::size_t i : {1U, 2U, 3U}) EXPECT_EQ(read.events[i].address, read.events[0].address) << i;
  EXPECT_GT(read.events[4].address, read.events[0].address);
  EXPECT_EQ(read.events[4].old_address, read.events[0].address);
}

TEST(csapp_source, a_reallocation_of_no_block_allocates_and_one_to_no_bytes_frees) {
  const journal_contents read = read_trace("0\n1\n5\n0\nr 0 8\nr 0 0\nr 0 0\nf 0\nr 0 9\n");
  ASSERT_EQ(read.events.size(), 5U);
  EXPECT_NE(read.events[0].address, 0U);
  EXPECT_EQ(read.events[0].old_address, 0U);
  EXPECT_EQ(read.events[1].address, 0U);
  EXPECT_EQ(read.events[1].old_address, read.events[0].address);
  EXPECT_NE(read.events[2].address, 0U) << "as realloc(NULL, 0) does";
  EXPECT_EQ(read.events[3].address, read.events[2].address);
  EXPECT_EQ(read.events[4].old_address, 0U);
  EXPECT_TRUE(read.complete);
}

TEST(csapp_source, known_variants_are_read) {
  const std::size_t events = 2;
  for (const char* trace : {
           "9\n1\n2\n1\na 0 8\nf 0\n",                           // as the lab has it
           "9\r\n1\r\n2\r\n1\r\na 0 8\r\nf 0\r\n",               // Windows
           "9\n1\n2\n1\na 0 8\nf 0",                             // the last line has no end
           "9\n1\n2\na 0 8\nf 0\n",                              // no weight
           "# a trace\n9\n1\n\n2\n1\n# body\na 0 8\n\nf 0\n\n",  // comments and blank lines
           "  9\n1 \n2\n\t1\n a  0\t8 \nf\t0 \n",                // blanks
           "9\n1\n2\n1\na 4000000000 8\nf 4000000000\n",         // ids that are not dense
       }) {
    const journal_contents read = read_trace(trace);
    EXPECT_EQ(read.events.size(), events) << trace;
    EXPECT_TRUE(read.complete) << trace;
    EXPECT_TRUE(read.warnings.empty()) << trace;
    EXPECT_EQ(read_bytes(trace).events, read.events) << "open() knows it: " << trace;
  }
}

TEST(csapp_source, what_the_header_promises_is_compared) {
  const std::string told = "the header tells of 3 operations, and there are 2";
  for (const char* trace : {"9\n1\n3\n1\na 0 8\nf 0\n", "9\n1\n3\na 0 8\nf 0\n"}) {
    const journal_contents read = read_trace(trace);
    EXPECT_EQ(read.events.size(), 2U);
    EXPECT_EQ(read.warnings, std::vector<std::string>{told});
    EXPECT_FALSE(read.complete);
  }
  EXPECT_FALSE(read_trace("9\n1\n1\n1\na 0 8\nf 0\n").complete);
}

TEST(csapp_source, frees_of_nothing_are_left_out_and_told) {
  const journal_contents read = read_trace("9\n1\n6\n1\nf -1\na 0 8\nf 0\nf 0\nf 3\nf -1\n");
  EXPECT_EQ(read.events.size(), 2U);
  EXPECT_EQ(read.events[1].time, 2U) << "the number of the operation in the trace";
  EXPECT_EQ(read.warnings, (std::vector<std::string>{"2 frees of a null pointer are left out",
                                                     "2 frees of ids that name no block are left out"}));
  EXPECT_TRUE(read.complete);
}

TEST(csapp_source, a_block_whose_id_is_taken_is_never_freed) {
  const journal_contents read = read_trace("9\n1\n3\n1\na 0 8\na 0 9\nf 0\n");
  ASSERT_EQ(read.events.size(), 3U);
  EXPECT_EQ(read.events[2].address, read.events[1].address);
  EXPECT_NE(read.events[2].address, read.events[0].address);
  EXPECT_EQ(read.warnings,
            std::vector<std::string>{"1 allocations take the id of a live block, which is never freed then"});
}

TEST(csapp_source, a_line_that_is_no_operation_is_named) {
  for (const char* line : {"x 1 2", "a", "a 1", "a 1 2 3", "a -1 2", "f", "f 1 2", "f -2", "r 1", "r -1 8",
                           "a 0x1 2", "a 1 2.5", "A 1 2", "a1 2", "5", "a 1 18446744073709551616"}) {
    EXPECT_EQ(error_of_trace("9\n1\n3\n1\na 0 8\n" + std::string(line) + "\nf 0\n"),
              std::string("line 6: ") + expected_operation)
        << line;
  }
  EXPECT_EQ(error_of_trace("9\n1\n3\n1\n2\na 0 8\n"), std::string("line 5: ") + expected_operation);
}

TEST(csapp_source, a_header_of_another_form_is_named) {
  const std::string expected =
      "expected a number: a CS:APP trace begins with heap size, ids, operations and weight";
  EXPECT_EQ(error_of_trace("hello\n"), "line 1: " + expected);
  EXPECT_EQ(error_of_trace("9\n1\na 0 8\n"), "line 3: " + expected);
  EXPECT_EQ(error_of_trace("9 1 2 1\na 0 8\n"), "line 1: " + expected);
  EXPECT_EQ(error_of_trace("9\n-1\n"), "line 2: " + expected);
  EXPECT_EQ(error_of_trace("9\n1\n"), "it ends within the header of a CS:APP trace");
  EXPECT_EQ(error_of_trace(""), "it ends within the header of a CS:APP trace");
  EXPECT_TRUE(read_trace("9\n0\n0\n1\n").complete) << "no operations are a trace, too";
}

TEST(csapp_source, no_two_blocks_share_bytes) {
  std::string lines = "9\n1\n20000\n1\n";
  for (int i = 0; i < 20'000; ++i) {
    const std::string id = std::to_string(i * 7919 % 101);
    lines += (i % 3 == 0 ? "a " : "r ") + id + " " + std::to_string(i * 31 % 777) + "\n";
  }
  std::map<std::uint64_t, std::uint64_t> live;  // end by begin
  for (const event& e : read_trace(lines).events) {
    live.erase(e.old_address);
    if (e.address == 0) continue;
    const auto above = live.lower_bound(e.address);
    if (above != live.end()) {
      ASSERT_GE(above->first, e.address + e.size);
    }
    if (above != live.begin()) {
      ASSERT_LE(std::prev(above)->second, e.address);
    }
    ASSERT_TRUE(live.emplace(e.address, e.address + std::max<std::uint64_t>(e.size, 1)).second);
  }
}

TEST(csapp_source, addresses_end_and_do_not_begin_anew) {
  const std::string refused = ": expected fewer bytes: no addresses are left for a block of this size";
  const std::string to_the_last_16 = "9\n9\n9\n1\na 0 9223372036854710256\na 1 0\n";
  EXPECT_EQ(error_of_trace(to_the_last_16 + "a 2 18446744073709551576\na 3 5\n"), "line 5" + refused)
      << "no malloc gives as much";

  std::string full = "9\n9\n9\n1\n";
  const std::string largest = std::to_string(largest_possible);
  for (int block = 0; block < 65'535; ++block) full += "a " + std::to_string(block) + " " + largest + "\n";
  full += "a 65535 " + std::to_string(largest_possible - 0x10000 - 16) + "\n";
  const journal_contents last = read_trace(full + "a 65536 16\n");
  EXPECT_EQ(last.events.back().address, (std::uint64_t{1} << 63) - 16);
  for (const char* one_more : {"0", "1", "18446744073709551576", "18446744073709551615"})
    EXPECT_EQ(error_of_trace(full + "a 65536 16\na 65537 " + one_more + "\n"), "line 65542" + refused);
}

TEST(csapp_source, open_knows_a_trace_of_one_operation_without_a_line_end) {
  EXPECT_EQ(read_bytes("9\n1\n1\n1\na 0 8").events.size(), 1U);
}

TEST(csapp_source, open_takes_nothing_else_for_a_trace) {
  for (const char* bytes : {"9\n1\na 0 8\n", "9\n1\n2\n1\n", "9\n1\n2\n1\n5\na 0 8\n", "9\n1\n2\n1\nb 0 8\n",
                            "12\n", "1,2\n3,4\n", "# nothing\n"}) {
    EXPECT_EQ(error_of_bytes(bytes), "it is not a journal") << bytes;
  }
}

TEST(csapp_source, more_operations_than_a_batch_holds) {
  std::string lines = "9\n1\n140000\n1\n";
  for (int i = 0; i < 70'000; ++i) lines += "a 0 8\nf 0\n";
  const journal_contents read = read_trace(lines);
  ASSERT_EQ(read.events.size(), 140'000U);
  for (std::size_t i = 0; i < read.events.size(); ++i) ASSERT_EQ(read.events[i].time, i);
}

}  // namespace
}  // namespace mallard::journal
