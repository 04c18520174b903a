#include "journal/text/import.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <stdexcept>

#include "journal/binary/sample_journal.hpp"
#include "scratch_folder.hpp"

namespace mallard::journal {
namespace {

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
