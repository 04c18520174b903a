#include "journal/text/text_form.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "journal/binary/sample_journal.hpp"
#include "journal/binary/writer.hpp"
#include "journal/events/event_source.hpp"
#include "journal/open.hpp"
#include "journal/text/import.hpp"
#include "journal/text/line_reader.hpp"
#include "scratch_folder.hpp"

namespace mallard::journal {
namespace {

TEST(text_source, reads_allocations_and_frees) {
  const journal_contents read = read_bytes("a 24 5a0 700 100\nf 5A0 900 250\na 0 0 700 300\n");
  const std::vector<event> expected = {
      {.kind = event_kind::allocate, .time = 100, .address = 0x5a0, .size = 24},
      {.kind = event_kind::deallocate, .thread = 1, .time = 250, .address = 0x5a0},
      {.kind = event_kind::allocate, .time = 300},
  };
  EXPECT_EQ(read.events, expected);
  ASSERT_EQ(read.known.threads.size(), 2U);
  EXPECT_EQ(read.known.threads[0].system_id, 700U);
  EXPECT_EQ(read.known.threads[1].system_id, 900U);
  EXPECT_EQ(read.about.ticks_per_second, 1e9);
  EXPECT_TRUE(read.complete);
}

TEST(text_source, the_last_line_needs_no_end_and_lines_may_end_like_on_windows) {
  EXPECT_EQ(read_bytes("a 1 10 1 1\r\nf 10 1 2").events.size(), 2U);
}

TEST(text_source, numbers_reach_to_64_bits) {
  const journal_contents read =
      read_bytes("a 18446744073709551615 ffffffffffffffff 18446744073709551615 18446744073709551615\n");
  ASSERT_EQ(read.events.size(), 1U);
  EXPECT_EQ(read.events[0].size, UINT64_MAX);
  EXPECT_EQ(read.events[0].address, UINT64_MAX);
  EXPECT_EQ(read.events[0].time, UINT64_MAX);
  EXPECT_EQ(read.known.threads[0].system_id, UINT64_MAX);
}

TEST(text_source, a_line_of_another_form_is_named) {
  const std::string expected =
      "line 2: expected 'a <size> <pointer-hex> <thread> <ns>' or 'f <pointer-hex> <thread> <ns>'";
  for (const char* line :
       {"", "a", "x 1 2 3 4", "a 1 2 3", "a 1 2 3 4 5", "f 1 2", "f 1 2 3 4", "a -1 2 3 4", "a 1 0x2 3 4",
        "a  1 2 3 4", "a 1 2 3 4 ", "a 1 2 3 18446744073709551616", "a 1 g 3 4", "A 1 2 3 4", "f10 1 1"}) {
    EXPECT_EQ(error_of_bytes("a 1 10 1 1\n" + std::string(line) + "\nf 10 1 2\n"), expected) << line;
  }
}

// A file of one line: its first bytes, then spaces forever.
class endless_line final : public byte_stream {
 public:
  explicit endless_line(std::size_t& taken) : taken_(&taken) {}

  std::size_t read(unsigned char* to, std::size_t size) override {
    std::fill_n(to, size, ' ');
    if (*taken_ == 0) *to = 'a';
    *taken_ += size;
    if (*taken_ > std::size_t{100} << 20) throw error("far too much was read");
    return size;
  }

 private:
  std::size_t* taken_;
};

TEST(text_source, a_line_without_end_is_given_up) {
  std::size_t taken = 0;
  const std::string told = error_from([&] { read_all(*open(input(std::make_unique<endless_line>(taken)))); });
  EXPECT_EQ(told.substr(0, 7), "line 1:");
}

TEST(text_source, a_free_of_null_is_left_out_and_told) {
  const journal_contents read = read_bytes("a 1 10 1 1\nf 0 1 2\n");
  EXPECT_EQ(read.events.size(), 1U);
  ASSERT_EQ(read.warnings.size(), 1U);
  EXPECT_EQ(read.warnings[0], "1 frees of a null pointer are left out");
  EXPECT_TRUE(read.complete) << "nothing is lost by it";
}

TEST(text_source, more_lines_than_a_batch_holds) {
  std::string lines;
  for (int i = 1; i <= 100'000; ++i) lines += "a 8 10 1 " + std::to_string(i) + "\n";
  const journal_contents read = read_bytes(lines);
  ASSERT_EQ(read.events.size(), 100'000U);
  for (std::size_t i = 0; i < read.events.size(); ++i) ASSERT_EQ(read.events[i].time, i + 1);
  const auto source = open_bytes(lines);
  event_batch batch;
  std::uint64_t number = 0;
  for (; source->next(batch); number += batch.count()) EXPECT_EQ(batch.first, number);
  EXPECT_EQ(number, 100'000U);
}

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

// What a file of these bytes becomes.
journal_contents imported_from(std::string_view bytes, import_form form) {
  const test::temporary_file from(bytes);
  const test::temporary_file to;
  import_journal(from.path(), form, to.path(), {});
  return read_all(to.path());
}

std::string error_of_import(std::string_view bytes, import_form form) {
  return error_from([&] { imported_from(bytes, form); });
}

TEST(import, a_text_journal_keeps_its_events_threads_and_times) {
  const std::string text = "a 24 5a0 700 100\na 8 6B0 900 110\nf 5a0 900 250\na 0 0 700 90\n";
  const journal_contents before = read_bytes(text);
  const journal_contents after = imported_from(text, import_form::text);
  EXPECT_EQ(after.events, before.events);
  EXPECT_EQ(after.known.threads, before.known.threads);
  EXPECT_EQ(after.about.ticks_per_second, 1e9);
  EXPECT_EQ(after.about.facts.at("imported_from"), "file");
  EXPECT_TRUE(after.complete);
}

TEST(import, a_trace_keeps_its_events_and_what_is_made_up) {
  const std::string trace = "9\n2\n5\n1\na 0 24\na 1 8\nr 0 48\nf 0\nf 1\n";
  const journal_contents before = read_bytes(trace);
  const journal_contents after = imported_from(trace, import_form::csapp);
  EXPECT_EQ(after.events, before.events);
  EXPECT_EQ(after.about.ticks_per_second, 1e6);
  for (const auto& [name, text] : before.about.facts) EXPECT_EQ(after.about.facts.at(name), text);
  EXPECT_TRUE(after.complete);
}

TEST(import, threads_may_come_at_any_time) {
  std::string lines;
  for (int i = 0; i < 150'000; ++i) lines += "a 8 10 " + std::to_string(i / 10'000) + " 1\n";
  const journal_contents before = read_bytes(lines);
  const journal_contents after = imported_from(lines, import_form::text);
  EXPECT_EQ(after.known.threads.size(), 15U);
  EXPECT_EQ(after.known.threads, before.known.threads);
  EXPECT_EQ(after.events, before.events);
}

TEST(import, the_form_is_the_one_asked_for) {
  EXPECT_EQ(error_of_import("a 1 10 1 1\n", import_form::csapp).substr(0, 25), "line 1: expected a number");
  EXPECT_EQ(error_of_import("9\n1\n1\n1\na 0 8\n", import_form::text).substr(0, 21), "line 1: expected 'a <");
  EXPECT_EQ(error_of_import("", import_form::text), "it is empty");
  EXPECT_EQ(error_of_import("", import_form::csapp), "it is empty");
}

TEST(import, a_trace_that_was_cut_off_becomes_a_journal_that_says_so) {
  const journal_contents after = imported_from("9\n1\n9\n1\na 0 8\n", import_form::csapp);
  EXPECT_EQ(after.events.size(), 1U);
  EXPECT_FALSE(after.complete);
}

TEST(import, nothing_is_left_of_what_went_wrong) {
  const test::temporary_file from("a 1 10 1 1\nquack\n");
  const test::temporary_file to("what was there");
  EXPECT_EQ(error_from([&] { import_journal(from.path(), import_form::text, to.path(), {}); }).substr(0, 7),
            "line 2:");
  EXPECT_FALSE(std::filesystem::exists(to.path()));

  from.write("a 1 10 1 1\n");
  EXPECT_THROW(import_journal(from.path(), import_form::text, to.path(),
                              [](double) { throw std::runtime_error("enough"); }),
               std::runtime_error);
  EXPECT_FALSE(std::filesystem::exists(to.path()));
}

TEST(import, a_pipe_that_was_written_to_stays) {
  const test::scratch_folder folder;
  const std::filesystem::path pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int kept_open = ::open(pipe.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(kept_open, 0);
  const test::temporary_file from("a 1 10 1 1\nquack\n");
  EXPECT_EQ(error_from([&] { import_journal(from.path(), import_form::text, pipe, {}); }).substr(0, 7),
            "line 2:");
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  ::close(kept_open);
}

TEST(import, a_source_that_is_not_there_costs_nothing) {
  const test::temporary_file to("what was there");
  EXPECT_EQ(error_from([&] { import_journal("/nowhere", import_form::text, to.path(), {}); }),
            "No such file or directory");
  EXPECT_EQ(to.read(), "what was there");
}

TEST(import, tells_how_far_it_is) {
  const test::temporary_file from("a 1 10 1 1\n");
  const test::temporary_file to;
  std::vector<double> heard;
  const imported done = import_journal(from.path(), import_form::text, to.path(),
                                       [&](double share) { heard.push_back(share); });
  EXPECT_EQ(done.events, 1U);
  EXPECT_EQ(heard, std::vector<double>{1});
}

}  // namespace

}  // namespace mallard::journal
