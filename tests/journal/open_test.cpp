// A journal is known by its first bytes, whatever its name and however it is packed.
#include <gtest/gtest.h>
#include <lzma.h>

#include <random>

#include "journal/binary/sample_journal.hpp"
#include "journal/open.hpp"
#include "scratch_folder.hpp"

namespace mallard::journal {
namespace {

std::string packed(const std::string& plain) {
  std::string out(lzma_stream_buffer_bound(plain.size()), '\0');
  std::size_t size = 0;
  const lzma_ret result = lzma_easy_buffer_encode(
      0, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const std::uint8_t*>(plain.data()), plain.size(),
      reinterpret_cast<std::uint8_t*>(out.data()), &size, out.size());
  EXPECT_EQ(result, LZMA_OK);
  out.resize(size);
  return out;
}

TEST(open, unpacks_text_and_binary_journals) {
  EXPECT_EQ(read_bytes(packed("a 24 5a0 700 100\nf 5a0 900 250\n")).events.size(), 2U);

  const test::temporary_file plain;
  write_sample(plain.path());
  const journal_contents read = read_bytes(packed(plain.read()));
  EXPECT_EQ(read.events, sample_events());
  EXPECT_TRUE(read.complete);
}

TEST(open, unpacks_several_xz_streams_as_one) {
  EXPECT_EQ(read_bytes(packed("a 24 5a0 700 100\n") + packed("f 5a0 900 250\n")).events.size(), 2U);
}

TEST(open, a_cut_xz_file_is_read_up_to_the_cut) {
  std::string lines;
  for (int i = 0; i < 50'000; ++i)
    lines += "a " + std::to_string(i) + " " + std::to_string(10 + i * 7919 % 1000) + " 1 1\n";
  std::string half = packed(lines);
  half.resize(half.size() / 2);
  const journal_contents read = read_bytes(half);
  EXPECT_GT(read.events.size(), 1000U);
  EXPECT_LT(read.events.size(), 50'000U);
  EXPECT_FALSE(read.complete);
  EXPECT_EQ(read.warnings, std::vector<std::string>{"the .xz file is cut off"});
}

TEST(open, a_damaged_xz_file_says_so) {
  std::string whole = packed("a 24 5a0 700 100\n");
  whole[whole.size() - 12] ^= 0x10;  // in its footer's checksum
  const journal_contents read = read_bytes(whole);
  EXPECT_EQ(read.events.size(), 1U);
  EXPECT_FALSE(read.complete);
  EXPECT_EQ(read.warnings, std::vector<std::string>{"the .xz file is damaged"});
}

TEST(open, tells_how_much_of_the_file_is_read) {
  std::string lines;
  std::mt19937_64 chance;  // so that it does not pack well
  for (int i = 0; i < 200'000; ++i) lines += "a 24 " + std::to_string(chance() >> 16) + " 1 1\n";
  const test::temporary_file plain(lines);
  const test::temporary_file small(packed(lines));
  for (const std::filesystem::path& path : {plain.path(), small.path()}) {
    const auto source = open(path);
    event_batch batch;
    double last = source->progress();
    EXPECT_LE(last, 0.5);
    while (source->next(batch)) {
      EXPECT_GE(source->progress(), last);
      last = source->progress();
    }
    EXPECT_EQ(last, 1);
  }
}

TEST(open, what_is_no_journal_is_told_in_one_line) {
  EXPECT_EQ(error_of("/nowhere"), "No such file or directory");
  EXPECT_EQ(error_of("/tmp"), "Is a directory");
  EXPECT_EQ(error_of_bytes(""), "it is empty");
  for (const char* contents : {"x", "a", "hello\n", "\177ELF", "\x89PNG\r\n\x1a\n"}) {
    EXPECT_EQ(error_of_bytes(contents), "it is not a journal") << contents;
  }
  EXPECT_EQ(error_of_bytes(packed("")), "it is empty");
  EXPECT_EQ(error_of_bytes(packed("a 1 1 1 1\n").substr(0, 10)), "the .xz file is cut off");
}

TEST(open, the_fixtures_have_the_events_they_were_recorded_with) {
  struct expectation {
    const char* name;
    std::size_t allocations;
    std::size_t frees;
  };
  for (const expectation& e :
       {expectation{"sqlite3.txt.xz", 192'935, 192'919}, expectation{"cc1plus.txt.xz", 257'734, 244'891}}) {
    const auto source = open(std::filesystem::path(MALLARD_FIXTURES) / e.name);
    std::size_t allocations = 0;
    std::size_t frees = 0;
    event_batch batch;
    while (source->next(batch)) {
      for (const event_kind kind : batch.kind) ++(is_allocation(kind) ? allocations : frees);
    }
    EXPECT_EQ(allocations, e.allocations) << e.name;
    EXPECT_EQ(frees, e.frees) << e.name;
    EXPECT_TRUE(source->complete());
  }
}

}  // namespace
}  // namespace mallard::journal
