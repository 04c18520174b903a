#include "profile/owner_witness.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "journal/binary/writer.hpp"
#include "journal/events/batch_of.hpp"
#include "profile/pairing.hpp"
#include "scratch_folder.hpp"

namespace mallard::profile {
namespace {

using journal::event;
using journal::event_kind;

constexpr std::size_t owner_place = 3;  // r13

// Blocks of so many owners, allocated at random, freed owner by owner or at random.
struct program {
  std::vector<event> events;
  std::map<std::uint64_t, std::vector<std::uint64_t>> snapshots;  // by event

  void allocate(std::uint64_t block, std::uint32_t context, std::uint64_t owner, std::uint64_t noise) {
    std::vector<std::uint64_t>& words = snapshots[events.size()];
    words.assign(witness_places, 7);
    words[owner_place] = owner;
    words[owner_place + 9] = owner;  // further copies bring nothing
    words[1] = noise;
    events.push_back({.kind = event_kind::malloc, .context = context, .address = block * 16, .size = 16});
  }
  void free(std::uint64_t block) { events.push_back({.kind = event_kind::free, .address = block * 16}); }

  // Only those snapshots for which `kept` holds.
  template <class Kept>
  [[nodiscard]] journal::table rows(Kept kept) const {
    journal::table rows;
    std::vector<std::vector<std::uint64_t>> columns(1 + witness_places);
    for (const auto& [number, words] : snapshots) {
      if (!kept(number)) continue;
      columns[0].push_back(number);
      for (std::size_t i = 0; i < witness_places; ++i) columns[1 + i].push_back(words[i]);
    }
    rows.type = journal::sections::snapshots;
    rows.rows = columns[0].size();
    for (std::size_t i = 0; i < columns.size(); ++i)
      rows.columns.push_back({.id = static_cast<std::uint16_t>(1 + i), .values = std::move(columns[i])});
    return rows;
  }
  [[nodiscard]] journal::table rows() const {
    return rows([](std::uint64_t) { return true; });
  }
};

program made(std::size_t owners, std::size_t blocks, bool by_owner, std::uint32_t contexts = 1) {
  std::mt19937 chance(1);
  program p;
  std::vector<std::vector<std::uint64_t>> of_owner(owners);
  for (std::uint64_t block = 1; block <= blocks; ++block) {
    const std::size_t owner = chance() % owners;
    of_owner[owner].push_back(block);
    p.allocate(block, 1 + static_cast<std::uint32_t>(block % contexts), 0x1000 * (owner + 1), chance());
  }
  std::vector<std::uint64_t> order;
  for (const auto& some : of_owner) order.insert(order.end(), some.begin(), some.end());
  if (!by_owner) std::ranges::shuffle(order, chance);
  for (const std::uint64_t block : order) p.free(block);
  return p;
}

std::vector<witness_found> found_in(const program& p, const journal::table& rows,
                                    std::vector<std::uint32_t> group_of) {
  snapshot_rows snapshots;
  snapshots.add(rows);
  snapshots.sort();
  owner_witness witness(snapshots, std::move(group_of));
  pairing pairs({&witness}, 1);
  pairs.add(journal::batch_of(p.events));
  pairs.finish();
  return witness.found(0.1);
}

TEST(owner_witness, finds_the_word_that_explains_the_order_of_frees) {
  const program p = made(20, 4000, true);
  const std::vector<witness_found> found = found_in(p, p.rows(), {0, 5});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].group, 5U);
  EXPECT_EQ(found[0].place, owner_place);
  EXPECT_EQ(found[0].values, 20U);
  EXPECT_EQ(found[0].instances, 20U);
  EXPECT_EQ(found[0].snapshots, 4000U);
  EXPECT_NEAR(found[0].gain, 0.95, 0.02);
}

TEST(owner_witness, finds_none_where_frees_come_at_random) {
  const program p = made(20, 4000, false);
  EXPECT_TRUE(found_in(p, p.rows(), {0, 1}).empty());
}

TEST(owner_witness, finds_none_where_allocations_come_in_the_order_of_owners) {
  program p;
  for (std::uint64_t block = 1; block <= 4000; ++block)
    p.allocate(block, 1, 0x1000 * (1 + block / 200), block);
  for (std::uint64_t block = 1; block <= 4000; ++block) p.free(block);
  EXPECT_TRUE(found_in(p, p.rows(), {0, 1}).empty());
}

TEST(owner_witness, finds_none_of_too_many_values) {
  const program p = made(800, 4000, true);
  EXPECT_TRUE(found_in(p, p.rows(), {0, 1}).empty());
}

TEST(owner_witness, judges_the_contexts_of_a_group_together) {
  const program p = made(20, 4000, true, 2);
  EXPECT_EQ(found_in(p, p.rows(), {0, 1, 2}).size(), 2U);
  const std::vector<witness_found> found = found_in(p, p.rows(), {0, 1, 1});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].snapshots, 4000U);
  EXPECT_EQ(found_in(p, p.rows(), {0, 1, 0})[0].snapshots, 2000U);
}

TEST(owner_witness, frees_by_reallocation_do_not_count) {
  program p = made(20, 4000, true);
  for (event& e : p.events)
    if (e.kind == event_kind::free)
      e = {.kind = event_kind::realloc, .address = e.address, .size = 16, .old_address = e.address};
  EXPECT_TRUE(found_in(p, p.rows(), {0, 1}).empty());
}

// Ten owners at a time allocate, and snapshots come in bursts: each burst sees ten of a hundred.
TEST(owner_witness, estimates_how_many_values_were_never_seen) {
  std::mt19937 chance(3);
  program p;
  std::vector<std::vector<std::uint64_t>> of_owner(100);
  for (std::uint64_t block = 1; block <= 100'000; ++block) {
    const std::size_t owner = (block - 1) / 10'000 * 10 + chance() % 10;
    of_owner[owner].push_back(block);
    p.allocate(block, 1, 0x1000 * (owner + 1), block);
  }
  for (const auto& some : of_owner)
    for (const std::uint64_t one : some) p.free(one);
  const auto found = found_in(p, p.rows([](std::uint64_t number) { return number % 20'000 < 400; }), {0, 1});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].values, 50U);
  EXPECT_GE(found[0].instances, 100U);
}

TEST(owner_witness, reads_snapshots_behind_their_events_and_what_they_are_of) {
  const program p = made(20, 4000, true);
  const test::temporary_file file;
  {
    journal::writer out(file.path());
    const std::uint32_t context = out.intern_context(0, 0x1234);
    const std::uint32_t thread = out.add_thread({});
    for (event e : p.events) {
      e.context = context;
      e.thread = thread;
      out.append(e);
    }
    out.add_table(p.rows());
    out.finish();
  }
  witness_pass pass(file.path(), {0, 1});
  double before = 0;
  while (pass.advance()) {
    EXPECT_GE(pass.progress(), before);
    before = pass.progress();
  }
  EXPECT_EQ(pass.snapshots().count(), 4000U);
  const std::vector<witness_found> found = pass.witness().found(0.1);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].place, owner_place);
}

TEST(owner_witness, a_journal_without_snapshots_has_none) {
  const test::temporary_file file("a 8 10 1 5\nf 10 1 7\n");
  witness_pass pass(file.path(), {0, 1});
  while (pass.advance()) {
  }
  EXPECT_EQ(pass.snapshots().count(), 0U);
  EXPECT_TRUE(pass.witness().found(0).empty());
}

}  // namespace
}  // namespace mallard::profile
