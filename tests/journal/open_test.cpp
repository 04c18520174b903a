// A journal is known by its first bytes, whatever its name and however it is packed. Several processes are
// read as one: their blocks never meet, and their code does where it is the same.
#include <gtest/gtest.h>
#include <lzma.h>

#include <random>

#include "journal/binary/sample_journal.hpp"
#include "journal/binary/writer.hpp"
#include "journal/merge.hpp"
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

constexpr std::uint64_t second = 1'000'000'000;

class merging : public testing::Test {
 protected:
  // A process that begins `begin` ns after the first, on a clock of its own, with its program at `base`; it
  // allocates and frees the block 0x1000, from the same two places in its program as every other.
  void write(const std::string& name, std::uint64_t begin, double ticks_per_second, std::uint64_t base) {
    writer out(folder_ / name);
    out.describe({.program = "/bin/" + name,
                  .process = 7,
                  .start_unix_ns = second + begin,
                  .ticks_per_second = ticks_per_second});
    static_cast<void>(out.add_module(
        {.begin = base, .end = base + 0x1000, .bias = base, .path = "/bin/same", .build_id = "ab"}));
    const auto ticks = [&](std::uint64_t ns) {
      return static_cast<std::uint64_t>(double(ns) * ticks_per_second / 1e9);
    };
    const std::uint32_t thread = out.add_thread({.system_id = 7});
    const std::uint32_t outer = out.intern_context(0, base + 0x10);
    const std::uint32_t inner =
        out.intern_context(out.intern_scope(outer, out.intern_name("parser")), base + 0x20);
    out.append({.kind = event_kind::malloc,
                .thread = thread,
                .context = inner,
                .time = ticks(100),
                .address = 0x1000,
                .size = 24,
                .duration = ticks(50)});
    out.append({.kind = event_kind::free,
                .thread = thread,
                .context = outer,
                .time = ticks(300),
                .address = 0x1000});
    out.add_usage({.time = ticks(400), .cpu_ns = 1000, .recording_ns = 10});
    out.finish();
  }

  journal_contents merge(const std::vector<std::string>& names) {
    std::vector<std::filesystem::path> paths;
    for (const std::string& name : names) paths.emplace_back(folder_ / name);
    result_ = merge_journals(paths, folder_ / "merged", {});
    return read_all(*open(folder_ / "merged"));
  }

  test::scratch_folder folder_;
  merged result_;
};

TEST_F(merging, puts_events_in_the_order_of_time_and_keeps_blocks_apart) {
  write("one", 0, 1e9, 0x400000);
  write("two", 100, 2e9, 0x700000);
  const journal_contents all = merge({"two", "one"});
  EXPECT_TRUE(all.complete);
  EXPECT_EQ(result_.events, 4u);
  ASSERT_EQ(all.events.size(), 4u);
  std::vector<std::uint64_t> times;
  for (const event& e : all.events) times.push_back(e.time);
  EXPECT_EQ(times, (std::vector<std::uint64_t>{100, 200, 300, 400}));
  EXPECT_EQ(all.events[0].address, all.events[2].address);
  EXPECT_EQ(all.events[1].address, all.events[3].address);
  EXPECT_NE(all.events[0].address, all.events[1].address);
  EXPECT_EQ(all.events[0].duration, 50u);
  EXPECT_EQ(all.events[1].duration, 50u);
  EXPECT_NE(all.events[0].thread, all.events[1].thread);
  EXPECT_EQ(all.about.program, "/bin/two");
  EXPECT_EQ(all.about.start_unix_ns, second);
  EXPECT_EQ(all.about.facts.at("processes"), "2");
  EXPECT_EQ(all.known.usage.back().cpu_ns, 2000u);
}

TEST_F(merging, makes_one_of_the_same_place_in_the_same_file) {
  write("one", 0, 1e9, 0x400000);
  write("two", 1000, 1e9, 0x700000);
  const journal_contents all = merge({"one", "two"});
  ASSERT_EQ(all.known.modules.size(), 1u);
  EXPECT_EQ(all.events[0].context, all.events[2].context);
  EXPECT_EQ(all.events[1].context, all.events[3].context);
  EXPECT_EQ(all.known.contexts.size(), 4u);
  const context_node& inner = all.known.contexts[all.events[0].context];
  EXPECT_EQ(inner.return_address - all.known.modules[0].bias, 0x20u);
  EXPECT_EQ(all.known.names[all.known.contexts[inner.parent].name], "parser");
}

TEST_F(merging, says_which_journal_is_cut_off) {
  write("one", 0, 1e9, 0x400000);
  write("two", 0, 1e9, 0x400000);
  std::filesystem::resize_file(folder_ / "two", std::filesystem::file_size(folder_ / "two") - 4);
  merge({"one", "two"});
  EXPECT_FALSE(result_.warnings.empty());
  for (const std::string& warning : result_.warnings) EXPECT_TRUE(warning.starts_with("two: ")) << warning;
  EXPECT_THROW(merge_journals({}, folder_ / "merged", {}), error);
}

}  // namespace
}  // namespace mallard::journal
