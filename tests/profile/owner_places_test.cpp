#include "profile/owner_places.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "journal/binary/writer.hpp"
#include "profile/summary.hpp"
#include "scratch_folder.hpp"

namespace mallard::profile {
namespace {

using journal::event_kind;

constexpr std::uint32_t rbp = 1;
constexpr std::uint32_t second_stack_word = 7;

struct block {
  std::uint64_t address;
  std::uint64_t owner;
};

// A journal whose blocks have owners; where its snapshots keep them is up to the test.
class made_journal {
 public:
  made_journal() {
    rows_.type = journal::sections::snapshots;
    for (std::uint16_t id = 1; id <= 1 + snapshot_places; ++id) rows_.columns.push_back({.id = id});
  }

  std::uint32_t context(std::uint64_t return_address) { return out_.intern_context(0, return_address); }
  std::uint32_t thread() { return out_.add_thread({}); }

  // With a snapshot that has the owner at `place`, the same word in rbx each time, and others elsewhere.
  block allocate(std::uint32_t context, std::uint64_t owner, std::uint32_t place, std::uint32_t thread = 0) {
    return allocate(context, owner, {{place, owner}}, thread);
  }

  // The same with these words at these places.
  block allocate(std::uint32_t context, std::uint64_t owner,
                 const std::vector<std::pair<std::uint32_t, std::uint64_t>>& known,
                 std::uint32_t thread = 0) {
    std::vector<std::uint64_t> words(snapshot_places);
    for (std::uint64_t& word : words) word = random_();
    words[0] = 0xbb;
    for (const auto& [place, word] : known) words[place] = word;
    number(0) = out_.events();
    for (std::size_t i = 0; i < words.size(); ++i) number(1 + i) = words[i];
    ++rows_.rows;
    return allocate_unseen(context, owner, thread);
  }

  block allocate_unseen(std::uint32_t context, std::uint64_t owner, std::uint32_t thread = 0) {
    next_ += 64;
    append({.kind = event_kind::malloc, .thread = thread, .context = context, .address = next_, .size = 24});
    return {next_, owner};
  }

  void free(const block& b, std::uint32_t thread = 0) {
    append({.kind = event_kind::free, .thread = thread, .address = b.address});
  }

  void move(block& b, std::uint32_t context) {
    next_ += 64;
    append({.kind = event_kind::realloc,
            .context = context,
            .address = next_,
            .size = 48,
            .old_address = std::exchange(b.address, next_)});
  }

  // Snapshots stand behind the events, as a recording's do.
  owner_places places(std::span<const std::uint32_t> group_of_context = {}) {
    finish();
    return find_owner_places(path(), group_of_context);
  }

  void finish() {
    if (rows_.rows != 0) out_.add_table(rows_);
    out_.finish();
  }

  [[nodiscard]] std::filesystem::path path() const { return folder_ / "journal"; }
  [[nodiscard]] std::uint64_t random(std::uint64_t below) { return random_() % below; }
  void shuffle(std::vector<block>& blocks) { std::ranges::shuffle(blocks, random_); }

 private:
  std::uint64_t& number(std::size_t column) {
    return std::get<std::vector<std::uint64_t>>(rows_.columns[column].values).emplace_back();
  }
  void append(journal::event e) {
    e.time = ++time_;
    out_.append(e);
  }

  test::scratch_folder folder_;
  journal::writer out_{folder_ / "journal"};
  journal::table rows_;
  std::mt19937_64 random_{7};
  std::uint64_t next_ = 0x1000;
  std::uint64_t time_ = 0;
};

constexpr std::uint64_t owners = 60;

std::vector<block> allocate_in_turns(made_journal& to, std::uint32_t context, std::uint32_t place,
                                     std::size_t count = 60 * 60, std::uint64_t of = owners) {
  std::vector<block> blocks;
  while (blocks.size() < count) blocks.push_back(to.allocate(context, 0x7000 + 64 * to.random(of), place));
  return blocks;
}

void free_by_owner(made_journal& to, std::vector<block> blocks) {
  to.shuffle(blocks);
  std::ranges::sort(blocks, {}, &block::owner);
  for (const block& b : blocks) to.free(b);
}

TEST(owner_places, finds_the_word_that_blocks_freed_together_have_in_common) {
  made_journal made;
  const std::uint32_t in_register = made.context(0x1);
  const std::uint32_t on_stack = made.context(0x2);
  free_by_owner(made, allocate_in_turns(made, in_register, rbp));
  free_by_owner(made, allocate_in_turns(made, on_stack, second_stack_word));
  const owner_places all = made.places();
  EXPECT_EQ(all.snapshots, 7200U);
  ASSERT_EQ(all.found.size(), 2U) << "one word is the same everywhere, the others a block's own";
  EXPECT_EQ(all.found[0].group, in_register);
  EXPECT_EQ(all.found[0].place, rbp);
  EXPECT_EQ(all.found[1].group, on_stack);
  EXPECT_EQ(all.found[1].place, second_stack_word);
  for (const owner_place& one : all.found) {
    EXPECT_EQ(one.blocks, 3600U);
    EXPECT_EQ(one.distinct, owners);
    EXPECT_EQ(one.owners, owners) << "one window has them all";
    EXPECT_NEAR(one.together, 1 - 59. / 3599, 1e-9);
    EXPECT_NEAR(one.chance, 1. / owners, .002);
    EXPECT_NEAR(one.in_order, 1. / owners, .01);
    EXPECT_GT(one.gain(), .95);
  }
}

TEST(owner_places, gains_nothing_where_the_order_of_allocations_explains_the_frees) {
  made_journal made;
  const std::uint32_t context = made.context(0x1);
  std::vector<block> blocks;  // each owner's in one go, and the oldest freed first
  for (std::uint64_t i = 0; i < 3600; ++i) blocks.push_back(made.allocate(context, i / 60, rbp));
  for (const block& b : blocks) made.free(b);
  const owner_places all = made.places();
  ASSERT_EQ(all.found.size(), 1U);
  EXPECT_GT(all.found[0].together, .98);
  EXPECT_EQ(all.found[0].together, all.found[0].in_order);
  EXPECT_EQ(all.found[0].gain(), 0);
}

TEST(owner_places, gains_nothing_where_frees_come_in_any_order) {
  made_journal made;
  std::vector<block> blocks = allocate_in_turns(made, made.context(0x1), rbp);
  made.shuffle(blocks);
  for (const block& b : blocks) made.free(b);
  for (const owner_place& one : made.places().found) EXPECT_LT(one.gain(), .02);
}

TEST(owner_places, tell_owners_by_their_ends_where_most_frees_are_of_single_blocks) {
  made_journal made;
  const std::uint32_t context = made.context(0x1);
  std::vector<block> blocks = allocate_in_turns(made, context, rbp, 60 * 20);
  for (int n = 0; n < 7'000; ++n) {  // one at random gives way to another
    std::swap(blocks[made.random(blocks.size())], blocks.back());
    made.free(blocks.back());
    blocks.back() = made.allocate(context, 0x7000 + 64 * made.random(owners), rbp);
  }
  free_by_owner(made, blocks);
  const owner_places all = made.places();
  ASSERT_EQ(all.found.size(), 1U);
  EXPECT_LT(all.found[0].gain(), .2);
  EXPECT_GT(all.found[0].together, 4 * all.found[0].chance);
  EXPECT_EQ(all.found[0].told, 1);
}

TEST(owner_places, tell_no_owners_by_chance_nor_by_the_order_of_allocations) {
  made_journal by_chance;
  std::vector<block> blocks = allocate_in_turns(by_chance, by_chance.context(0x1), rbp);
  by_chance.shuffle(blocks);
  for (const block& b : blocks) by_chance.free(b);
  EXPECT_LT(by_chance.places().found.at(0).told, .05);
  made_journal in_order;
  blocks.clear();
  const std::uint32_t context = in_order.context(0x1);
  for (std::uint64_t i = 0; i < 3600; ++i) blocks.push_back(in_order.allocate(context, i / 60, rbp));
  for (const block& b : blocks) in_order.free(b);
  EXPECT_EQ(in_order.places().found.at(0).told, 0);
}

TEST(owner_places, groups_of_the_same_owners_have_the_same_sketch) {
  made_journal made;
  std::vector<block> blocks;
  for (const auto& [context, place, from] : {std::tuple{made.context(0x1), rbp, 0x7000U},
                                             std::tuple{made.context(0x2), second_stack_word, 0x7000U},
                                             std::tuple{made.context(0x3), rbp, 0x9000U}})
    for (std::uint64_t n = 0; n < 3600; ++n)
      blocks.push_back(made.allocate(context, from + n % owners, place));
  free_by_owner(made, blocks);
  const owner_places all = made.places();
  ASSERT_EQ(all.found.size(), 3U);
  EXPECT_TRUE(std::ranges::is_sorted(all.found[0].sketch));
  EXPECT_EQ(all.found[0].sketch, all.found[1].sketch);
  EXPECT_NE(all.found[0].sketch, all.found[2].sketch);
}

TEST(owner_places, gains_nothing_from_a_word_that_nearly_all_blocks_have) {
  made_journal made;
  std::vector<block> blocks;
  const std::uint32_t context = made.context(0x1);
  for (std::uint64_t i = 0; i < 4000; ++i)
    blocks.push_back(made.allocate(context, i % 100 == 0 ? 1 : 2, rbp));
  free_by_owner(made, blocks);
  const owner_places all = made.places();
  ASSERT_EQ(all.found.size(), 1U);
  EXPECT_GT(all.found[0].together, .99);
  EXPECT_LT(all.found[0].gain(), .03);
}

TEST(owner_places, want_eight_blocks_an_owner) {
  for (const std::uint64_t blocks_each : {7U, 8U}) {
    made_journal made;
    std::vector<block> blocks;
    for (std::uint64_t i = 0; i < 50 * blocks_each; ++i)
      blocks.push_back(made.allocate(made.context(0x1), i % 50, rbp));
    free_by_owner(made, blocks);
    EXPECT_EQ(made.places().found.size(), blocks_each == 8 ? 1U : 0U);
  }
}

TEST(owner_places, want_64_blocks_of_a_group) {
  for (const std::uint64_t count : {63U, 64U}) {
    made_journal made;
    free_by_owner(made, allocate_in_turns(made, made.context(0x1), rbp, count, 4));
    EXPECT_EQ(made.places().found.size(), count == 64 ? 1U : 0U);
  }
}

TEST(owner_places, put_the_best_first_and_registers_before_the_stack) {
  made_journal made;
  const std::uint32_t context = made.context(0x1);
  std::vector<block> blocks;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const std::uint64_t owner = made.random(20);
    std::vector<std::pair<std::uint32_t, std::uint64_t>> words = {{3, owner}, {9, owner}};
    words.emplace_back(1, i % 3 == 0 ? owner : 99);
    blocks.push_back(made.allocate(context, owner, words));
  }
  free_by_owner(made, blocks);
  std::vector<std::string> names;
  for (const owner_place& one : made.places().found) names.push_back(name_of_place(one.place));
  EXPECT_EQ(names, (std::vector<std::string>{"r13", "sp+24", "rbp"}));
  EXPECT_EQ(name_of_place(0), "rbx");
  EXPECT_EQ(name_of_place(5), "r15");
  EXPECT_EQ(name_of_place(6), "sp+0");
  EXPECT_EQ(name_of_place(snapshot_places - 1), "sp+152");
}

// A compiler spills what it needs later, and passes it on: copies of a word that now and then have not been
// overwritten yet may gain a little more than the word itself.
TEST(owner_places, put_the_earliest_of_about_equal_ones_first) {
  made_journal made;
  const std::uint32_t context = made.context(0x1);
  std::vector<block> blocks;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const std::uint64_t owner = made.random(20);
    const auto but_each = [&](std::uint64_t nth) { return i % nth == 0 ? 99 : owner; };
    blocks.push_back(made.allocate(context, owner, {{1, but_each(20)}, {3, but_each(200)}, {9, owner}}));
  }
  free_by_owner(made, blocks);
  const std::vector<owner_place> found = made.places().found;
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].place, 3U);
  EXPECT_EQ(found[1].place, 9U);
  EXPECT_EQ(found[2].place, 1U);
  EXPECT_LT(found[0].gain(), found[1].gain());
}

// Five windows of 400 blocks, each of ten owners; in between, 16,384 blocks of `between` without a snapshot.
std::vector<owner_place> found_in_windows(bool same_owners, bool others_between) {
  made_journal made;
  const std::uint32_t context = made.context(0x1);
  const std::uint32_t between = others_between ? made.context(0x2) : context;
  std::vector<block> blocks;
  for (std::uint64_t window = 0; window < 5; ++window) {
    for (std::uint64_t i = 0; i < 400; ++i)
      blocks.push_back(made.allocate(context, made.random(10) + (same_owners ? 0 : 10 * window), rbp));
    for (std::uint64_t i = 0; i < 16'384; ++i) static_cast<void>(made.allocate_unseen(between, 1000 + i));
  }
  free_by_owner(made, blocks);
  return made.places().found;
}

TEST(owner_places, estimate_how_many_owners_no_snapshot_saw) {
  const std::vector<owner_place> found = found_in_windows(false, false);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].distinct, 50U);
  EXPECT_EQ(found[0].owners, 50U + 4 * 50 * 49 / 5 / 2);
}

TEST(owner_places, estimate_no_more_owners_where_each_window_has_the_same) {
  const std::vector<owner_place> found = found_in_windows(true, false);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].owners, 10U);
}

TEST(owner_places, estimate_no_more_owners_where_all_blocks_have_snapshots) {
  const std::vector<owner_place> found = found_in_windows(false, true);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].owners, 50U);
}

// A short window shows three blocks of each of its owners: too few, were they counted with the others.
TEST(owner_places, leave_out_short_windows) {
  made_journal made;
  const std::uint32_t context = made.context(0x1);
  std::vector<block> blocks;
  for (std::uint64_t i = 0; i < 800; ++i) blocks.push_back(made.allocate(context, made.random(100), rbp));
  for (std::uint64_t window = 1; window <= 5; ++window) {
    for (std::uint64_t i = 0; i < 16'384; ++i) static_cast<void>(made.allocate_unseen(made.context(0x2), i));
    for (std::uint64_t i = 0; i < 99; ++i)
      blocks.push_back(made.allocate(context, 1000 * window + i % 33, rbp));
  }
  free_by_owner(made, blocks);
  const std::vector<owner_place> found = made.places().found;
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].place, rbp);
  EXPECT_EQ(found[0].distinct, 100U);
  EXPECT_EQ(found[0].blocks, 800U);
}

// What a program does in between, be it ever so much, is no gap between windows if it has snapshots as well.
TEST(owner_places, estimate_no_more_owners_in_one_window) {
  made_journal made;
  const std::uint32_t context = made.context(0x1);
  std::vector<block> blocks;
  for (std::uint64_t phase = 0; phase < 5; ++phase) {
    for (std::uint64_t i = 0; i < 100; ++i)
      blocks.push_back(made.allocate(context, 10 * phase + made.random(10), rbp));
    for (std::uint64_t i = 0; i < 5'000; ++i) made.free(made.allocate(made.context(0x2), 0, rbp));
    static_cast<void>(made.allocate_unseen(context, 0));
  }
  free_by_owner(made, blocks);
  for (const owner_place& one : made.places().found) {
    if (one.group == context) {
      EXPECT_EQ(one.owners, 50U);
    }
  }
}

TEST(owner_places, leave_out_blocks_without_a_snapshot_and_those_that_grow_or_live_on) {
  made_journal made;
  const std::uint32_t context = made.context(0x1);
  std::vector<block> seen;
  std::vector<block> others;
  for (std::uint64_t i = 0; i < 4000; ++i) {
    const std::uint64_t owner = made.random(20);
    if (i % 4 == 0) {
      others.push_back(made.allocate_unseen(context, owner));
    } else {
      block b = made.allocate(context, owner, rbp);
      if (i % 4 == 1) made.move(b, context);
      if (i % 4 == 2)
        seen.push_back(b);  // those of 3 live on
      else if (i % 4 == 1)
        others.push_back(b);
    }
  }
  free_by_owner(made, others);
  free_by_owner(made, seen);
  const owner_places all = made.places();
  ASSERT_EQ(all.found.size(), 1U);
  EXPECT_EQ(all.found[0].blocks, 1000U);
  EXPECT_EQ(all.found[0].distinct, 20U);
  EXPECT_GT(all.found[0].gain(), .9);
}

// Two threads at once would hide what each of them does.
TEST(owner_places, follow_each_thread_by_itself) {
  made_journal made;
  const std::uint32_t context = made.context(0x1);
  const std::uint32_t threads[] = {made.thread(), made.thread()};
  std::vector<block> of_thread[2];
  for (std::uint64_t i = 0; i < 4000; ++i)
    of_thread[i % 2].push_back(made.allocate(context, i % 2 * 100 + made.random(20), rbp, threads[i % 2]));
  for (std::vector<block>& blocks : of_thread) std::ranges::sort(blocks, {}, &block::owner);
  for (std::size_t i = 0; i < 2000; ++i)
    for (const std::size_t t : {0U, 1U}) made.free(of_thread[t][i], threads[t]);
  const owner_places all = made.places();
  ASSERT_EQ(all.found.size(), 1U);
  EXPECT_EQ(all.found[0].distinct, 40U);
  EXPECT_GT(all.found[0].gain(), .9);
}

TEST(owner_places, take_contexts_together_as_they_are_told) {
  made_journal made;
  const std::uint32_t first = made.context(0x1);
  const std::uint32_t second = made.context(0x2);
  std::vector<block> blocks;
  for (std::uint64_t i = 0; i < 400; ++i)
    blocks.push_back(made.allocate(i % 2 == 0 ? first : second, made.random(40), rbp));
  free_by_owner(made, blocks);
  made.finish();
  EXPECT_TRUE(find_owner_places(made.path()).found.empty()) << "five blocks an owner are too few";
  const std::vector<std::uint32_t> groups = {0, 3, 3};
  const owner_places together = find_owner_places(made.path(), groups);
  ASSERT_EQ(together.found.size(), 1U);
  EXPECT_EQ(together.found[0].group, 3U);
  EXPECT_EQ(together.found[0].blocks, 400U);
}

TEST(owner_places, leave_out_contexts_of_no_group) {
  made_journal made;
  const std::uint32_t contexts[] = {made.context(0x1), made.context(0x2), made.context(0x3)};
  for (const std::uint32_t context : contexts)
    free_by_owner(made, allocate_in_turns(made, context, rbp, 400, 20));
  made.finish();
  const std::vector<std::uint32_t> groups = {0, 0, 5};
  const owner_places all = find_owner_places(made.path(), groups);
  ASSERT_EQ(all.found.size(), 1U);
  EXPECT_EQ(all.found[0].group, 5U);
  EXPECT_EQ(all.snapshots, 1200U) << "those of the journal";
}

TEST(owner_places, are_none_in_a_journal_without_snapshots) {
  const test::temporary_file file("a 8 10 1 5\nf 10 1 7\n");
  const owner_places all = find_owner_places(file.path());
  EXPECT_EQ(all.snapshots, 0U);
  EXPECT_TRUE(all.found.empty());
}

TEST(owner_places, do_without_snapshots_that_are_damaged) {
  made_journal made;
  free_by_owner(made, allocate_in_turns(made, made.context(0x1), rbp));
  made.finish();
  std::string bytes = test::contents(made.path());
  const std::size_t section = bytes.rfind("wtns");
  ASSERT_NE(section, std::string::npos);
  bytes[section + 200] ^= 1;
  const test::temporary_file damaged(bytes);
  const owner_places all = find_owner_places(damaged.path());
  EXPECT_EQ(all.snapshots, 0U);
  EXPECT_TRUE(all.found.empty());
  const summary s = summarize(damaged.path());
  EXPECT_EQ(s.events, 7200U) << "the events are whole";
  EXPECT_EQ(s.unmatched_frees, 0U);
  EXPECT_FALSE(s.complete);
}

TEST(owner_places, tell_how_far_they_are_and_can_be_stopped) {
  made_journal made;
  free_by_owner(made, allocate_in_turns(made, made.context(0x1), rbp));
  made.finish();
  double last = 0;
  static_cast<void>(find_owner_places(made.path(), {}, [&](double share) {
    EXPECT_GE(share, last);
    last = share;
  }));
  EXPECT_EQ(last, 1);
  EXPECT_THROW(
      static_cast<void>(find_owner_places(made.path(), {}, [](double) { throw std::runtime_error("stop"); })),
      std::runtime_error);
}

TEST(owner_places, snapshots_are_read_as_they_stand) {
  made_journal made;
  const std::uint32_t context = made.context(0x1);
  static_cast<void>(made.allocate_unseen(context, 0));
  static_cast<void>(made.allocate(context, 0x1234, rbp));
  static_cast<void>(made.allocate(context, 0x5678, second_stack_word));
  made.finish();
  const snapshot_columns rows = read_snapshots(made.path());
  EXPECT_EQ(rows.event, (std::vector<std::uint64_t>{1, 2}));
  ASSERT_EQ(rows.words.size(), 2 * snapshot_places);
  EXPECT_EQ(rows.words[0], 0xbbU);
  EXPECT_EQ(rows.words[rbp], 0x1234U);
  EXPECT_EQ(rows.words[snapshot_places + second_stack_word], 0x5678U);
}

}  // namespace
}  // namespace mallard::profile
