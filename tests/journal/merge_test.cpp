// Several processes as one journal: their blocks never meet, and their code does where it is the same.
#include "journal/merge.hpp"

#include <gtest/gtest.h>

#include "journal/binary/sample_journal.hpp"
#include "journal/binary/writer.hpp"
#include "scratch_folder.hpp"

namespace mallard::journal {
namespace {

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
