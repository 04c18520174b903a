#include "profile/held_by_pools.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "journal/events/batch_of.hpp"
#include "profile/pairing.hpp"
#include "profile/simulated_segments.hpp"

namespace mallard::profile {
namespace {

using journal::event;
using journal::event_kind;

constexpr std::uint64_t page = 4096;

// Blocks at addresses of their own.
class program {
 public:
  std::size_t allocate(std::uint32_t context, std::uint64_t size, std::uint64_t alignment = 0,
                       std::uint32_t thread = 0) {
    sizes_.push_back(size);
    events_.push_back({.kind = event_kind::malloc,
                       .thread = thread,
                       .context = context,
                       .address = address(sizes_.size() - 1),
                       .size = size,
                       .alignment = alignment});
    return sizes_.size() - 1;
  }
  void free(std::size_t block) { events_.push_back({.kind = event_kind::free, .address = address(block)}); }
  std::size_t reallocate(std::size_t block, std::uint32_t context, std::uint64_t size) {
    sizes_.push_back(size);
    events_.push_back({.kind = event_kind::realloc,
                       .context = context,
                       .address = address(sizes_.size() - 1),
                       .size = size,
                       .old_address = address(block)});
    return sizes_.size() - 1;
  }
  std::vector<std::size_t> allocate_many(std::size_t number, std::uint32_t context, std::uint64_t size) {
    std::vector<std::size_t> blocks;
    for (std::size_t n = 0; n < number; ++n) blocks.push_back(allocate(context, size));
    return blocks;
  }
  void free_all(const std::vector<std::size_t>& blocks) {
    for (const std::size_t block : blocks) free(block);
  }

  [[nodiscard]] held_by_pools under(pool_assignment routes) const {
    held_by_pools held(std::move(routes));
    play(held);
    return held;
  }
  void play(held_by_pools& to) const {
    pairing pairs({&to}, 1);
    pairs.add(journal::batch_of(events_));
    pairs.finish();
  }

 private:
  static std::uint64_t address(std::size_t block) { return (block + 1) << 24; }

  std::vector<event> events_;
  std::vector<std::uint64_t> sizes_;
};

TEST(held_by_pools, holds_the_pages_that_blocks_have_touched) {
  program p;
  p.allocate_many(256, 1, 16);  // a page
  EXPECT_EQ(p.under({}).peak(), page);
  p.allocate(1, 16);
  EXPECT_EQ(p.under({}).peak(), 2 * page);
  p.allocate(1, 100'000);
  EXPECT_EQ(p.under({}).peak(), 2 * page + 25 * page) << "more than the largest class is pages of its own";
}

TEST(held_by_pools, holds_whole_segments_in_huge_pages) {
  constexpr std::uint64_t segment = 16 * page;
  program p;
  p.allocate(1, 16);
  p.free(p.allocate(1, 100'000));
  p.allocate(2, 16);
  EXPECT_EQ(p.under({}).peak_in_segments(), 3 * segment);
  p.allocate(1, 70'000);
  p.allocate(2, 40);
  EXPECT_EQ(p.under({}).peak_in_segments(), 4 * segment);
  const pool_assignment parts{.first = {0, 0, 1}, .pools = {1, 1, 1}, .kinds = {{}, {}, placing::parts}};
  EXPECT_EQ(p.under(parts).peak_in_segments(), 5 * segment)
      << "what its parts leave of the span that has come back is too short for the next large block";
  program four;
  for (std::uint32_t context = 1; context != 5; ++context) four.allocate(context, 16);
  const std::vector<placing> kinds(5, placing::parts);
  EXPECT_EQ(
      four.under({.first = {0, 1, 2, 3, 4}, .pools = {1, 1, 1, 1, 1}, .kinds = kinds}).peak_in_segments(),
      segment);
}

TEST(held_by_pools, each_thread_has_slabs_of_its_own_in_each_pool) {
  constexpr std::uint64_t segment = 16 * page;
  program p;
  const std::size_t first = p.allocate(1, 16);
  p.allocate(1, 16, 0, 1);
  p.allocate(2, 16, 0, 1);
  p.allocate(2, 16, 0, 2);
  EXPECT_EQ(p.under({}).peak(), page) << "all have the same heap";
  EXPECT_EQ(p.under({.first = {}, .pools = {}, .heaps = {0, 1, 2}}).peak(), 3 * page);
  EXPECT_EQ(p.under({.first = {}, .pools = {}, .heaps = {0, 1, 2}}).peak_in_segments(), 3 * segment);
  EXPECT_EQ(p.under({.first = {}, .pools = {}, .heaps = {0, 1, 0}}).peak(), 2 * page)
      << "of a thread that has ended";
  EXPECT_EQ(p.under({.first = {}, .pools = {}, .heaps = {0, 1}}).peak(), 2 * page);
  const held_by_pools routed = p.under({.first = {0, 0, 1}, .pools = {1, 1, 1}, .heaps = {0, 1, 2}});
  EXPECT_EQ(routed.peak(), 4 * page);
  EXPECT_EQ(routed.peak_of(0), 2 * page);
  EXPECT_EQ(routed.peak_of(1), 2 * page);
  p.free(first);
  p.allocate(1, 16, 0, 1);
  EXPECT_EQ(p.under({.first = {}, .pools = {}, .heaps = {0, 1, 2}}).peak(), 3 * page)
      << "what is free in one heap is no other's";
}

TEST(held_by_pools, blocks_one_after_the_other_lie_in_slabs_of_their_thread) {
  for (const placing kind : {placing::behind, placing::reused}) {
    program p;
    const pool_assignment own{
        .first = {0, 1}, .pools = {1, 1}, .kinds = {placing::slabs, kind}, .heaps = {0, 1}};
    for (int n = 0; n != 4; ++n) p.allocate(1, 1000, 0, static_cast<std::uint32_t>(n % 2));
    EXPECT_EQ(p.under(own).peak(), 2 * page);
  }
}

TEST(held_by_pools, what_comes_back_stays_memory_for_the_next_request) {
  constexpr std::uint64_t segment = 16 * page;
  program p;
  p.free_all(p.allocate_many(64 * segment / 64, 1, 64));
  EXPECT_EQ(p.under({}).peak(), 64 * segment);
  program joined = p;
  joined.allocate(1, 60 * segment);
  EXPECT_EQ(joined.under({}).peak(), 64 * segment) << "slabs that lie side by side make room for it";
  p.allocate(1, 160 * segment);
  EXPECT_GT(p.under({}).peak(), 161 * segment) << "which is too large for what there is";
  EXPECT_LE(p.under({}).peak(), 182 * segment) << "an eighth more than is in use, at most";
  const pool_assignment another{.first = {}, .pools = {}, .default_in_segments = false};
  EXPECT_LE(p.under(another).peak(), 161 * segment);
}

TEST(held_by_pools, a_large_block_that_has_grown_has_room_to_grow_again) {
  constexpr std::uint64_t segment = 16 * page;
  program copied;
  const std::size_t small = copied.allocate(1, segment + page);
  copied.reallocate(small, 1, 2 * segment);
  EXPECT_EQ(copied.under({}).peak_in_segments(), 6 * segment) << "two that have come back, and twice two";
  EXPECT_EQ(copied.under({}).peak(), 3 * segment + page);
  program moved;
  const std::size_t large = moved.allocate(1, 4 * segment);
  moved.reallocate(large, 1, 8 * segment);
  EXPECT_EQ(moved.under({}).peak_in_segments(), 16 * segment);
  EXPECT_EQ(moved.under({}).peak(), 8 * segment) << "its pages are moved";
}

TEST(simulated_segments, give_back_what_nobody_asks_for_in_time) {
  constexpr std::uint64_t second = 1'000'000'000;
  simulated_segments all;
  const auto come_and_go = [&](std::uint64_t pages, bool are_moved) {
    segment* const s = all.take_large(pages);
    all.touch(s, 0, pages);
    all.give_back(s, pages, are_moved);
  };
  segment* const kept = all.take_large(100);
  all.touch(kept, 0, 50);
  all.touch(kept, 25, 100);
  EXPECT_EQ(all.resident(), 100U);
  EXPECT_EQ(all.in_segments(), 112U);
  all.forget(kept, 90, 100);
  EXPECT_EQ(all.resident(), 90U);
  come_and_go(640, true);
  EXPECT_EQ(all.resident(), 90U) << "moved to another block";
  come_and_go(320, false);
  EXPECT_EQ(all.resident(), 410U);
  all.set_time(second);
  for (int i = 0; i != 40; ++i) come_and_go(16, false);
  EXPECT_LT(all.resident(), 90U + 33);
  come_and_go(320, false);
  come_and_go(320, true);
  EXPECT_LT(all.resident(), 90U + 33) << "moved from pages that were memory before";
  EXPECT_LT(all.in_segments(), 112U + 33);
  all.give_back(kept, 90);
}

TEST(simulated_segments, keep_what_the_parts_of_a_segment_have_touched) {
  simulated_segments all;
  std::vector<segment*> parts;
  for (int i = 0; i != 4; ++i) all.touch(parts.emplace_back(all.take_slab(true)), 0, 4);
  EXPECT_EQ(all.in_segments(), 16U);
  for (segment* const one : parts) all.give_back(one, 4);
  EXPECT_EQ(all.in_segments(), 16U);
  EXPECT_EQ(all.resident(), 16U);
  all.touch(all.take_slab(false), 0, 16);
  EXPECT_EQ(all.resident(), 16U);
}

// As with a limit on addresses that leaves none for segments.
TEST(simulated_segments, count_pages_without_addresses_while_they_are_in_use) {
  simulated_segments all;
  all.touch(nullptr, 0, 5);
  EXPECT_EQ(all.resident(), 5U);
  EXPECT_EQ(all.in_segments(), 5U);
  all.forget(nullptr, 4, 5);
  all.give_back(nullptr, 4);
  EXPECT_EQ(all.resident(), 0U);
}

TEST(held_by_pools, a_default_heap_of_another_malloc_holds_no_segments) {
  constexpr std::uint64_t segment = 16 * page;
  program p;
  p.allocate(1, 16);
  p.free(p.allocate(1, 100'000));
  p.free_all(p.allocate_many(16, 1, 16'384));
  p.allocate(2, 16);
  p.allocate(1, 40);
  const pool_assignment beside{.first = {0, 0, 1}, .pools = {1, 1, 1}, .default_in_segments = false};
  EXPECT_EQ(p.under(beside).peak_in_segments(), (1 + 64) * page)
      << "a page and 16 blocks of four pages, before there is a pool";
  program last;
  last.free(last.allocate(1, 100'000));
  last.allocate(2, 16);
  last.allocate_many(26, 1, 4'000);
  EXPECT_EQ(last.under(beside).peak_in_segments(), 26 * page + segment);
}

TEST(held_by_pools, routes_small_blocks_of_natural_alignment) {
  program p;
  p.allocate(1, 1024);
  p.allocate(1, 1025);
  p.allocate(1, 16, 32);
  p.allocate(1, 16, 16);
  p.allocate(2, 16);
  p.allocate(9, 16);  // beyond the assignment
  const held_by_pools held = p.under({.first = {0, 1, 0}, .pools = {1, 1, 1}});
  EXPECT_EQ(held.routed_in_all().events, 2U);
  EXPECT_EQ(held.routed_in_all().bytes, 1040U);
  EXPECT_EQ(held.pools(), 2U);
  EXPECT_EQ(held.peak_of(1), 2 * page) << "two classes";
  EXPECT_EQ(held.peak_of(0), 3 * page) << "three classes";
  EXPECT_EQ(held.peak(), 5 * page);
}

TEST(held_by_pools, blocks_of_other_pools_lie_on_other_pages) {
  program p;
  for (int i = 0; i < 10; ++i) {
    p.allocate(1, 48);
    p.allocate(2, 48);
  }
  EXPECT_EQ(p.under({.first = {0, 1, 1}, .pools = {1, 1, 1}}).peak(), page);
  EXPECT_EQ(p.under({.first = {0, 1, 2}, .pools = {1, 1, 1}}).peak(), 2 * page);
}

TEST(held_by_pools, phases_that_follow_one_another_do_not_add_up) {
  program p;
  constexpr std::size_t many = 12'288;  // three segments of 16 bytes each
  for (std::uint32_t phase = 1; phase <= 8; ++phase) p.free_all(p.allocate_many(many, phase, 16));
  pool_assignment apart{.first = {0}, .pools = {1}};
  for (std::uint32_t phase = 1; phase <= 8; ++phase) {
    apart.first.push_back(phase);
    apart.pools.push_back(1);
  }
  const std::uint64_t one = many * 16;
  EXPECT_LE(p.under(apart).peak(), one + 7 * page) << "a pool keeps no more than a page";
  EXPECT_GE(p.under(apart).peak(), one);
  EXPECT_LE(p.under(apart).peak_in_segments(), (3 + 7) * 16 * page);
}

TEST(held_by_pools, what_is_littered_is_not_shared) {
  program p;
  const std::vector<std::size_t> blocks = p.allocate_many(40'960, 1, 16);
  for (std::size_t n = 0; n < blocks.size(); ++n)
    if (n % 1000 != 0) p.free(blocks[n]);
  p.allocate_many(40'960, 2, 16);
  EXPECT_EQ(p.under({.first = {0, 1, 2}, .pools = {1, 1, 1}}).peak(), 320 * page);
  EXPECT_LE(p.under({.first = {0, 1, 1}, .pools = {1, 1, 1}}).peak(), 162 * page)
      << "its own pool uses it again";
}

TEST(held_by_pools, pages_between_few_blocks_come_back_when_a_pool_grows) {
  program p;
  const std::vector<std::size_t> blocks = p.allocate_many(31 * 4096, 1, 16);
  for (std::size_t n = 0; n < blocks.size(); ++n)
    if (n % 4096 != 0) p.free(blocks[n]);
  p.allocate_many(16 * 64, 1, 1024);
  const std::uint64_t kept = p.under({.first = {0, 1}, .pools = {1, 1}}).peak();
  p.allocate_many(16 * 64, 1, 512);
  EXPECT_EQ(kept, p.under({.first = {0, 1}, .pools = {1, 1}}).peak())
      << "of 31 slabs, 15 pages each are free";
}

TEST(held_by_pools, blocks_behind_each_other_take_eight_bytes_more) {
  program p;
  p.allocate_many(64, 1, 56);
  const pool_assignment behind{.first = {0, 1}, .pools = {1, 1}, .kinds = {placing::slabs, placing::behind}};
  EXPECT_EQ(p.under(behind).peak(), page);
  p.allocate(1, 8);
  EXPECT_EQ(p.under(behind).peak(), 2 * page);
}

TEST(held_by_pools, blocks_behind_each_other_come_back_when_all_of_a_segment_have_ended) {
  const std::vector<placing> behind{placing::slabs, placing::behind};
  const std::vector<placing> reused{placing::slabs, placing::reused};
  const auto peak = [](const program& p, const std::vector<placing>& kinds) {
    return p.under({.first = {0, 1}, .pools = {1, 1}, .kinds = kinds}).peak();
  };
  program rounds;
  for (int round = 0; round < 10; ++round) rounds.free_all(rounds.allocate_many(2048, 1, 56));
  EXPECT_EQ(peak(rounds, behind), 32 * page);
  EXPECT_EQ(peak(rounds, reused), 32 * page);
  program kept;
  for (int round = 0; round < 10; ++round) {
    kept.allocate(1, 56);
    kept.free_all(kept.allocate_many(1023, 1, 56));
  }
  EXPECT_EQ(peak(kept, behind), 10 * 16 * page) << "one block of each segment lives on";
  EXPECT_EQ(peak(kept, reused), 17 * page) << "what was freed is used again";
}

TEST(held_by_pools, what_is_alive_is_noted_over_the_events) {
  program p;
  const std::vector<std::size_t> first = p.allocate_many(10, 1, 100);
  p.free_all(first);
  p.allocate_many(20, 2, 10);
  held_by_pools held({.first = {0, 1, 2}, .pools = {1, 1, 1}}, 40, 4);  // moments of 11 events
  p.play(held);
  EXPECT_EQ(held.alive_over_time(1), (std::vector<std::uint64_t>{1000, 900, 0, 0}));
  EXPECT_EQ(held.alive_over_time(2), (std::vector<std::uint64_t>{0, 20, 130, 200}));
}

TEST(held_by_pools, a_full_slab_is_used_again_when_a_sixteenth_is_free) {
  program p;
  const std::vector<std::size_t> first = p.allocate_many(64, 1, 1024);  // one slab, full
  p.allocate(1, 1024);
  for (std::size_t n = 0; n < 3; ++n) p.free(first[n]);
  p.allocate_many(63, 1, 1024);  // the second slab is full then
  p.allocate(1, 1024);
  EXPECT_EQ(p.under({}).peak(), (16 + 16 + 1) * page);
  p.free(first[3]);
  p.allocate_many(63, 1, 1024);
  p.allocate_many(4, 1, 1024);
  EXPECT_EQ(p.under({}).peak(), (16 + 16 + 16) * page);
}

TEST(held_by_pools, instances_share_the_blocks_of_their_context) {
  program p;
  p.allocate_many(2560, 1, 16);
  const held_by_pools held = p.under({.first = {0, 3}, .pools = {1, 4}});
  EXPECT_EQ(held.pools(), 7U);
  EXPECT_EQ(held.peak_of(1), 0U);
  for (std::size_t pool = 3; pool < 7; ++pool) EXPECT_LE(held.peak_of(pool), 4 * page);
}

TEST(held_by_pools, slabs_of_parts_come_back_a_quarter_at_a_time) {
  const auto peak_of = [](placing how) {
    program p;
    const std::vector<std::size_t> first = p.allocate_many(4096, 1, 16);  // four parts, or one segment
    p.free_all({first.begin(), first.begin() + 3072});
    p.allocate_many(3072, 2, 16);
    return p.under({.first = {0, 1, 2}, .pools = {1, 1, 1}, .kinds = {how, how, how}}).peak();
  };
  EXPECT_EQ(peak_of(placing::parts), 16 * page);
  EXPECT_EQ(peak_of(placing::slabs), 28 * page);
}

TEST(held_by_pools, blocks_of_regions_do_not_count) {
  std::vector<event> events{
      {.kind = event_kind::region_create, .region = 7},
      {.kind = event_kind::region_allocate, .context = 1, .address = 0x10, .size = 64, .region = 7},
      {.kind = event_kind::malloc, .context = 1, .address = 0x1000, .size = 64},
      {.kind = event_kind::region_destroy, .region = 7}};
  held_by_pools held({.first = {0, 1}, .pools = {1, 1}});
  pairing pairs({&held}, 1);
  pairs.add(journal::batch_of(events));
  pairs.finish();
  EXPECT_EQ(held.routed_in_all().events, 1U);
  EXPECT_EQ(held.peak(), page);
}

// Two instances, of which the second one's blocks come when half of the first one's are free.
class instances_in_turn : public testing::Test {
 protected:
  static constexpr std::size_t blocks = 32768;                // of 64 bytes: 512 pages of each instance
  static constexpr std::size_t second = blocks + blocks / 2;  // event of its first allocation
  static constexpr std::uint64_t one = 0x1000;                // words of snapshots, addresses as most are
  static constexpr std::uint64_t another = 0x1040;

  instances_in_turn() {
    const std::vector<std::size_t> first = p_.allocate_many(blocks, 1, 64);
    for (std::size_t n = 0; n < blocks; n += 2) p_.free(first[n]);
    p_.allocate_many(blocks, 1, 64);
  }
  // A snapshot of an allocation has the word at place 3, and 0 elsewhere.
  void saw(std::uint64_t event, std::uint64_t word) {
    events_.push_back(event);
    words_.resize(events_.size() * snapshot_places);
    words_[words_.size() - snapshot_places + 3] = word;
  }
  [[nodiscard]] double pages_with(std::uint32_t place) const {
    held_by_pools held({.first = {0, 1}, .pools = {1, 2}, .places = {snapshot_places, place}}, 0, 0,
                       {events_, words_});
    p_.play(held);
    return static_cast<double>(held.peak() / page);
  }

  program p_;
  std::vector<std::uint64_t> events_;
  std::vector<std::uint64_t> words_;
};

TEST_F(instances_in_turn, what_one_has_freed_serves_the_other_where_nothing_tells_them_apart) {
  EXPECT_NEAR(pages_with(3), 768, 8) << "no snapshots";
  saw(0, one), saw(second, another);
  EXPECT_NEAR(pages_with(snapshot_places), 768, 8) << "no place";
  EXPECT_NEAR(pages_with(2), 768, 8) << "one word of both: one pool";
}

TEST_F(instances_in_turn, what_one_has_freed_does_not_serve_the_other_where_snapshots_tell_them_apart) {
  saw(0, one), saw(second, another);
  EXPECT_EQ(pages_with(3), 1024);
}

TEST_F(instances_in_turn, what_no_snapshot_shows_belongs_to_those_of_the_newest_window) {
  for (std::size_t n = 0; n < 1000; ++n) saw(n, n % 4 < 2 ? one : another);
  EXPECT_NEAR(pages_with(3), 768, 8) << "both, from the begin to the end";
  for (std::size_t n = 0; n < 1000; ++n) saw(second + n, another);
  EXPECT_NEAR(pages_with(3), 896, 8) << "what the second one has of them, it uses again";
}

TEST_F(instances_in_turn, what_no_snapshot_shows_belongs_to_those_of_the_end_of_a_long_window) {
  for (std::size_t n = 0; n < blocks; ++n) saw(n, n < 20480 ? one : another);
  EXPECT_NEAR(pages_with(3), 800, 8)
      << "a quarter of the latest 16,384 name the first one, which has room for these";
}

// Of two instances in turns of 64 blocks, all of the first one end: what its pool has held serves another.
TEST(held_by_pools, what_no_snapshot_shows_comes_in_the_runs_of_the_newest_window) {
  constexpr std::size_t blocks = 32768;  // of 64 bytes: 512 pages
  const auto is_of_first = [](std::size_t n) { return n / 64 % 2 == 0; };
  program p;
  const std::vector<std::size_t> all = p.allocate_many(blocks, 1, 64);
  std::vector<std::uint64_t> events(1024);
  std::vector<std::uint64_t> words(events.size() * snapshot_places);
  for (std::size_t n = 0; n != events.size(); ++n) {
    events[n] = n;
    words[n * snapshot_places] = is_of_first(n) ? 0x1000 : 0x1040;
  }
  for (std::size_t n = 0; n != blocks; ++n)
    if (is_of_first(n)) p.free(all[n]);
  p.allocate_many(blocks / 2, 2, 64);
  held_by_pools held({.first = {0, 1, 3}, .pools = {1, 2, 1}, .places = {snapshot_places, 0}}, 0, 0,
                     {events, words});
  p.play(held);
  EXPECT_NEAR(static_cast<double>(held.peak() / page), 512, 8);
}

}  // namespace
}  // namespace mallard::profile
