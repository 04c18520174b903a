#include "profile/census.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "journal/events/batch_of.hpp"
#include "profile/pairing.hpp"

namespace mallard::profile {
namespace {

using journal::event_kind;

struct birth {
  std::uint64_t size = 10;
  std::uint32_t context = 0;
  std::uint32_t thread = 0;
  std::uint32_t region = 0;
};

// A census, told of objects by what they are called in the test.
class life {
 public:
  explicit life(census_plan plan) : census_(std::move(plan)) {}

  void born(int name, birth b = {}) { begin(name, b, no_event, origin::fresh); }

  void died(int name, event_kind kind = event_kind::free, std::uint32_t thread = 0) {
    end(name, kind, thread);
    ++event_;
  }

  // One event: `name` ends, and goes on as an object of that name.
  void reallocated(int name, birth b = {}) {
    const std::uint64_t previous = live_.at(name).o.birth;
    end(name, event_kind::realloc, b.thread);
    begin(name, b, previous, origin::moved);
  }

  void at(std::uint64_t time) { time_ = time; }

  const group_figures& finish(std::uint32_t group = 0) {
    for (const auto& [_, one] : live_) census_.survived(one.slot, one.o);
    census_.finish();
    return census_.figures()[group];
  }

  [[nodiscard]] const census& result() const { return census_; }

 private:
  struct living {
    std::uint32_t slot;
    object o;
  };

  void begin(int name, const birth& b, std::uint64_t previous, origin from) {
    std::uint32_t slot = slots_;
    if (free_slots_.empty())
      ++slots_;
    else
      slot = free_slots_.back(), free_slots_.pop_back();
    const object o{.birth = event_++,
                   .previous = previous,
                   .birth_time = time_,
                   .address = 0x10000 + 4096 * static_cast<std::uint64_t>(name),
                   .size = b.size,
                   .context = b.context,
                   .thread = b.thread,
                   .region = b.region,
                   .kind = event_kind::malloc,
                   .origin = from};
    live_[name] = {.slot = slot, .o = o};
    census_.born(slot, o);
  }

  void end(int name, event_kind kind, std::uint32_t thread) {
    living gone = live_.at(name);
    live_.erase(name);
    gone.o.death = event_;
    gone.o.death_time = time_;
    gone.o.death_thread = thread;
    gone.o.death_kind = kind;
    free_slots_.push_back(gone.slot);
    census_.died(gone.slot, gone.o);
  }

  census census_;
  std::map<int, living> live_;
  std::vector<std::uint32_t> free_slots_;
  std::uint32_t slots_ = 0;
  std::uint64_t event_ = 0;
  std::uint64_t time_ = 0;
};

census_plan one_group() { return {.groups = {.of_context = {0}, .groups = 1}}; }
census_plan two_groups() { return {.groups = {.of_context = {0, 1}, .groups = 2}}; }

TEST(census, sums_and_the_most_alive) {
  life of(one_group());
  of.born(1, {.size = 100});
  of.born(2, {.size = 50});
  of.died(1);
  of.born(3, {.size = 80});
  of.born(4, {.size = 20});  // event 4: 150 once more
  of.born(5, {.size = 5});   // event 5: 155
  of.died(3);
  const group_figures& found = of.finish();
  EXPECT_EQ(found.births, 5U);
  EXPECT_EQ(found.bytes, 255U);
  EXPECT_EQ(found.max_live_bytes, 155U);
  EXPECT_EQ(found.max_live_event, 5U);
  EXPECT_EQ(found.max_live_objects, 4U);
  EXPECT_EQ(found.never, 3U);
}

TEST(census, the_most_alive_is_where_it_was_first_reached) {
  life of(one_group());
  of.born(1, {.size = 100});
  of.died(1);
  of.born(2, {.size = 100});
  EXPECT_EQ(of.finish().max_live_event, 0U);
}

TEST(census, each_end_is_counted_once) {
  life of(one_group());
  of.born(1);
  of.died(1);  // the only one
  of.born(2);
  of.born(3);
  of.died(3);  // the youngest
  of.reallocated(2);
  of.born(4);
  const group_figures& found = of.finish();
  EXPECT_EQ(found.births, 5U);
  EXPECT_EQ(found.one_by_one, 1U);
  EXPECT_EQ(found.lifo, 1U);
  EXPECT_EQ(found.reallocated, 1U);
  EXPECT_EQ(found.never, 2U);
  EXPECT_EQ(found.together, 0U);
}

TEST(census, a_run_goes_on_over_a_reallocation_in_the_group) {
  life of(one_group());
  for (int name = 0; name < 9; ++name) of.born(name);
  for (int name = 0; name < 8; ++name) of.died(name);
  of.reallocated(8);  // alone, so that nothing is left for a moment
  of.died(8);
  const group_figures& found = of.finish();
  EXPECT_EQ(found.together, 9U);
  EXPECT_EQ(found.reallocated, 1U);
}

TEST(census, a_reallocation_counts_as_no_death_of_a_run) {
  life of(one_group());
  for (int name = 0; name < 7; ++name) of.born(name);
  of.reallocated(0);
  for (int name = 6; name >= 0; --name) of.died(name);
  const group_figures& found = of.finish();
  EXPECT_EQ(found.together, 0U);
  EXPECT_EQ(found.lifo, 6U);
  EXPECT_EQ(found.one_by_one, 1U);
}

TEST(census, a_reallocated_object_is_as_old_as_it_was) {
  life of(one_group());
  of.born(1);
  of.born(2);
  of.reallocated(1);
  of.died(1);  // still the older one
  EXPECT_EQ(of.finish().one_by_one, 1U);
}

TEST(census, a_reallocation_into_another_group_is_a_birth_there) {
  life of(two_groups());
  for (int name = 0; name < 9; ++name) of.born(name);
  of.born(20, {.context = 1});
  for (int name = 0; name < 8; ++name) of.died(name);
  of.reallocated(8, {.size = 30, .context = 1});  // nothing is left of group 0
  of.died(8);                                     // the youngest of two in group 1
  of.born(9);                                     // breaks no run: it is settled
  const group_figures& first = of.finish(0);
  EXPECT_EQ(first.together, 8U);
  EXPECT_EQ(first.reallocated, 1U);
  EXPECT_EQ(first.births, 10U);
  const group_figures& second = of.result().figures()[1];
  EXPECT_EQ(second.births, 2U);
  EXPECT_EQ(second.max_live_bytes, 40U);
  EXPECT_EQ(second.lifo, 1U);
}

TEST(census, regions_and_their_objects_are_left_out) {
  life of(one_group());
  of.born(1);
  of.born(2, {.size = 1000, .region = 1});
  of.died(2, event_kind::region_destroy);
  of.born(3, {.size = 1000, .region = 1});
  const group_figures& found = of.finish();
  EXPECT_EQ(found.births, 1U);
  EXPECT_EQ(found.max_live_bytes, 10U);
  EXPECT_EQ(found.never, 1U);
  EXPECT_EQ(found.lifo + found.one_by_one, 0U);
}

TEST(census, a_group_by_thread_is_that_of_the_birth) {
  life of({.groups = {.of_thread = {0, 1}, .groups = 2}});
  of.born(1, {.size = 7, .context = 5, .thread = 1});
  of.died(1, event_kind::free, 0);
  of.finish();
  EXPECT_EQ(of.result().figures()[0].births, 0U);
  EXPECT_EQ(of.result().figures()[0].active_threads, 0U);
  EXPECT_EQ(of.result().figures()[1].bytes, 7U);
  EXPECT_EQ(of.result().figures()[1].one_by_one, 1U);
  EXPECT_EQ(of.result().figures()[1].active_threads, 2U) << "who allocated, and who freed";
}

TEST(census, births_and_frees_are_operations_of_their_threads) {
  census_plan plan = one_group();
  plan.ns_per_operation = {100'000};
  life of(std::move(plan));
  of.born(1, {.thread = 0});
  of.reallocated(1, {.thread = 0});  // one operation
  of.born(2, {.thread = 1});
  of.died(1, event_kind::free, 1);  // b is 0.2 for both
  const group_figures& found = of.finish();
  EXPECT_EQ(found.active_threads, 2U);
  EXPECT_DOUBLE_EQ(found.contention, 0.2 * 0.2);
  EXPECT_DOUBLE_EQ(found.overlaps, 0.2 * 0.2 * 10);
}

TEST(census, an_object_that_ends_during_a_reallocation_dies_beside_it) {
  census of(one_group());
  const auto birth = [](std::uint64_t event) { return object{.birth = event, .size = 10}; };
  for (std::uint32_t slot = 0; slot < 3; ++slot) of.born(slot, birth(slot));
  object moved = birth(1);
  moved.death = 3;
  moved.death_kind = event_kind::realloc;
  of.died(1, moved);
  object at_its_new_address = birth(2);
  at_its_new_address.death = 3;
  at_its_new_address.death_kind = event_kind::deallocate;
  of.died(2, at_its_new_address);  // the youngest of three
  of.born(2, birth(3));
  object first = birth(0);
  first.death = 4;
  first.death_kind = event_kind::free;
  of.died(0, first);
  of.finish();
  EXPECT_EQ(of.figures()[0].lifo, 1U);
  EXPECT_EQ(of.figures()[0].reallocated, 1U);
  EXPECT_EQ(of.figures()[0].one_by_one, 1U);
}

TEST(census, reallocations_to_nothing_are_frees) {
  census of(one_group());
  std::vector<journal::event> events;
  for (std::uint64_t address = 16; address <= 48; address += 16)
    events.push_back({.kind = event_kind::malloc, .address = address, .size = 10});
  for (std::uint64_t address = 48; address >= 32; address -= 16)
    events.push_back({.kind = event_kind::realloc, .old_address = address});
  for (std::uint64_t address = 64; address <= 96; address += 16)
    events.push_back({.kind = event_kind::malloc, .address = address, .size = 10});
  events.push_back({.kind = event_kind::free, .address = 16});
  pairing objects({&of}, 1);
  objects.add(journal::batch_of(events));
  while (objects.finish(1)) {
  }
  of.finish();
  const group_figures& found = of.figures()[0];
  EXPECT_EQ(found.births, 6U);
  EXPECT_EQ(found.max_live_objects, 4U);
  EXPECT_EQ(found.reallocated, 0U);
  EXPECT_EQ(found.lifo, 2U);
  EXPECT_EQ(found.one_by_one, 1U);
  EXPECT_EQ(found.never, 3U);
}

TEST(census, compactness_is_of_each_group) {
  census_plan plan = two_groups();
  plan.events = 6;
  plan.moments = 3;  // behind events 1, 3 and 5
  life of(std::move(plan));
  of.born(1, {.size = 64});
  of.born(2, {.size = 128, .context = 1});
  of.born(3, {.size = 1});
  of.reallocated(1, {.size = 32});
  of.died(2);
  of.died(3);
  of.finish();
  std::vector<std::vector<std::uint64_t>> found;
  for (const compactness& c : of.result().compactness_over_time())
    found.push_back({c.event, c.group, c.live_bytes, c.line_bytes, c.page_bytes});
  EXPECT_EQ(found, (std::vector<std::vector<std::uint64_t>>{{1, 0, 64, 64, 4096},
                                                            {1, 1, 128, 128, 4096},
                                                            {3, 0, 33, 128, 8192},
                                                            {3, 1, 128, 128, 4096},
                                                            {5, 0, 32, 64, 4096}}));
}

TEST(census, live_bytes_over_time_are_of_each_group) {
  census_plan plan = two_groups();
  plan.end_time = 100;
  plan.buckets = 4;
  life of(std::move(plan));
  of.born(1, {.size = 64});
  of.born(2, {.size = 128, .context = 1});
  of.at(30);
  of.reallocated(1, {.size = 32});
  of.born(3, {.size = 1});
  of.at(60);
  of.died(2);
  of.finish();
  EXPECT_EQ(of.result().live_bytes_over_time(),
            std::vector<std::uint64_t>({64, 64, 33, 33, 128, 128, 128, 0}));
}

TEST(census, every_object_of_a_long_random_life_ends_once) {
  std::mt19937_64 random(31);
  constexpr std::uint32_t groups = 5;
  life of({.groups = {.of_context = {0, 1, 2, 3, 4}, .groups = groups}});
  struct sums {
    std::uint64_t births = 0, bytes = 0, live_bytes = 0, live = 0, most_bytes = 0, most = 0, reallocated = 0;
  };
  std::vector<sums> expected(groups);
  std::map<int, birth> live;
  const auto add = [&](const birth& b) {
    sums& in = expected[b.context];
    ++in.births;
    in.bytes += b.size;
    in.most_bytes = std::max(in.most_bytes, in.live_bytes += b.size);
    in.most = std::max(in.most, ++in.live);
  };
  const auto remove = [&](const birth& b) {
    expected[b.context].live_bytes -= b.size;
    --expected[b.context].live;
  };
  for (int step = 0; step < 20'000; ++step) {
    const int name = static_cast<int>(random() % 300);
    const birth b{.size = random() % 100, .context = static_cast<std::uint32_t>(random() % groups)};
    const auto found = live.find(name);
    if (found == live.end()) {
      of.born(name, b);
      add(b);
      live[name] = b;
    } else if (random() % 3 == 0) {
      remove(found->second);
      ++expected[found->second.context].reallocated;
      of.reallocated(name, b);
      add(b);
      found->second = b;
    } else {
      of.died(name);
      remove(found->second);
      live.erase(found);
    }
  }
  of.finish();
  for (std::uint32_t group = 0; group < groups; ++group) {
    const group_figures& found = of.result().figures()[group];
    const sums& in = expected[group];
    EXPECT_EQ(found.births, in.births);
    EXPECT_EQ(found.bytes, in.bytes);
    EXPECT_EQ(found.max_live_bytes, in.most_bytes);
    EXPECT_EQ(found.max_live_objects, in.most);
    EXPECT_EQ(found.never, in.live);
    EXPECT_EQ(found.reallocated, in.reallocated);
    EXPECT_EQ(found.never + found.reallocated + found.together + found.lifo + found.one_by_one, in.births);
  }
}

}  // namespace
}  // namespace mallard::profile
