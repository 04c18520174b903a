#include "profile/group_statistics.hpp"

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

struct allocation {
  std::uint64_t size = 10;
  std::uint32_t context = 0;
  std::uint32_t thread = 0;
  std::uint32_t region = 0;
};

// Statistics of objects that go by the names they have in the test.
class life {
 public:
  explicit life(statistics_plan plan) : statistics_(std::move(plan)) {}

  void allocated(int name, allocation b = {}) { begin(name, b, no_event, origin::fresh); }

  void freed(int name, event_kind kind = event_kind::free, std::uint32_t thread = 0) {
    end(name, kind, thread);
    ++event_;
  }

  // One event: `name` ends, and goes on as an object of that name.
  void reallocated(int name, allocation b = {}) {
    const std::uint64_t previous = live_.at(name).o.allocation;
    end(name, event_kind::realloc, b.thread);
    begin(name, b, previous, origin::moved);
  }

  void at(std::uint64_t time) { time_ = time; }

  const group_figures& finish(std::uint32_t group = 0) {
    for (const auto& [_, one] : live_) statistics_.leaked(one.slot, one.o);
    statistics_.finish();
    return statistics_.figures()[group];
  }

  [[nodiscard]] const group_statistics& result() const { return statistics_; }

 private:
  struct living {
    std::uint32_t slot;
    object o;
  };

  void begin(int name, const allocation& b, std::uint64_t previous, origin from) {
    std::uint32_t slot = slots_;
    if (free_slots_.empty())
      ++slots_;
    else
      slot = free_slots_.back(), free_slots_.pop_back();
    const object o{.allocation = event_++,
                   .previous = previous,
                   .allocation_time = time_,
                   .address = 0x10000 + 4096 * static_cast<std::uint64_t>(name),
                   .size = b.size,
                   .context = b.context,
                   .thread = b.thread,
                   .region = b.region,
                   .kind = event_kind::malloc,
                   .origin = from};
    live_[name] = {.slot = slot, .o = o};
    statistics_.allocated(slot, o);
  }

  void end(int name, event_kind kind, std::uint32_t thread) {
    living gone = live_.at(name);
    live_.erase(name);
    gone.o.free = event_;
    gone.o.free_time = time_;
    gone.o.free_thread = thread;
    gone.o.free_kind = kind;
    free_slots_.push_back(gone.slot);
    statistics_.freed(gone.slot, gone.o);
  }

  group_statistics statistics_;
  std::map<int, living> live_;
  std::vector<std::uint32_t> free_slots_;
  std::uint32_t slots_ = 0;
  std::uint64_t event_ = 0;
  std::uint64_t time_ = 0;
};

statistics_plan one_group() { return {.groups = {.of_context = {0}, .groups = 1}}; }
statistics_plan two_groups() { return {.groups = {.of_context = {0, 1}, .groups = 2}}; }

TEST(group_statistics, sums_and_the_most_alive) {
  life of(one_group());
  of.allocated(1, {.size = 100});
  of.allocated(2, {.size = 50});
  of.freed(1);
  of.allocated(3, {.size = 80});
  of.allocated(4, {.size = 20});  // event 4: 150 once more
  of.allocated(5, {.size = 5});   // event 5: 155
  of.freed(3);
  const group_figures& found = of.finish();
  EXPECT_EQ(found.allocations, 5U);
  EXPECT_EQ(found.bytes, 255U);
  EXPECT_EQ(found.max_live_bytes, 155U);
  EXPECT_EQ(found.max_live_event, 5U);
  EXPECT_EQ(found.max_live_objects, 4U);
  EXPECT_EQ(found.never, 3U);
}

TEST(group_statistics, the_most_alive_is_where_it_was_first_reached) {
  life of(one_group());
  of.allocated(1, {.size = 100});
  of.freed(1);
  of.allocated(2, {.size = 100});
  EXPECT_EQ(of.finish().max_live_event, 0U);
}

TEST(group_statistics, each_end_is_counted_once) {
  life of(one_group());
  of.allocated(1);
  of.freed(1);  // the only one
  of.allocated(2);
  of.allocated(3);
  of.freed(3);  // the youngest
  of.reallocated(2);
  of.allocated(4);
  const group_figures& found = of.finish();
  EXPECT_EQ(found.allocations, 5U);
  EXPECT_EQ(found.one_by_one, 1U);
  EXPECT_EQ(found.lifo, 1U);
  EXPECT_EQ(found.reallocated, 1U);
  EXPECT_EQ(found.never, 2U);
  EXPECT_EQ(found.together, 0U);
}

TEST(group_statistics, a_run_goes_on_over_a_reallocation_in_the_group) {
  life of(one_group());
  for (int name = 0; name < 9; ++name) of.allocated(name);
  for (int name = 0; name < 8; ++name) of.freed(name);
  of.reallocated(8);  // alone, so that nothing is left for a moment
  of.freed(8);
  const group_figures& found = of.finish();
  EXPECT_EQ(found.together, 9U);
  EXPECT_EQ(found.reallocated, 1U);
}

TEST(group_statistics, a_reallocation_counts_as_no_free_of_a_run) {
  life of(one_group());
  for (int name = 0; name < 7; ++name) of.allocated(name);
  of.reallocated(0);
  for (int name = 6; name >= 0; --name) of.freed(name);
  const group_figures& found = of.finish();
  EXPECT_EQ(found.together, 0U);
  EXPECT_EQ(found.lifo, 6U);
  EXPECT_EQ(found.one_by_one, 1U);
}

TEST(group_statistics, a_reallocated_object_is_as_old_as_it_was) {
  life of(one_group());
  of.allocated(1);
  of.allocated(2);
  of.reallocated(1);
  of.freed(1);  // still the older one
  EXPECT_EQ(of.finish().one_by_one, 1U);
}

TEST(group_statistics, a_reallocation_into_another_group_is_an_allocation_there) {
  life of(two_groups());
  for (int name = 0; name < 9; ++name) of.allocated(name);
  of.allocated(20, {.context = 1});
  for (int name = 0; name < 8; ++name) of.freed(name);
  of.reallocated(8, {.size = 30, .context = 1});  // nothing is left of group 0
  of.freed(8);                                    // the youngest of two in group 1
  of.allocated(9);                                // breaks no run: it is settled
  const group_figures& first = of.finish(0);
  EXPECT_EQ(first.together, 8U);
  EXPECT_EQ(first.reallocated, 1U);
  EXPECT_EQ(first.allocations, 10U);
  const group_figures& second = of.result().figures()[1];
  EXPECT_EQ(second.allocations, 2U);
  EXPECT_EQ(second.max_live_bytes, 40U);
  EXPECT_EQ(second.lifo, 1U);
}

TEST(group_statistics, regions_and_their_objects_are_left_out) {
  life of(one_group());
  of.allocated(1);
  of.allocated(2, {.size = 1000, .region = 1});
  of.freed(2, event_kind::region_destroy);
  of.allocated(3, {.size = 1000, .region = 1});
  const group_figures& found = of.finish();
  EXPECT_EQ(found.allocations, 1U);
  EXPECT_EQ(found.max_live_bytes, 10U);
  EXPECT_EQ(found.never, 1U);
  EXPECT_EQ(found.lifo + found.one_by_one, 0U);
}

TEST(group_statistics, a_group_by_thread_is_that_of_the_allocation) {
  life of({.groups = {.of_thread = {0, 1}, .groups = 2}});
  of.allocated(1, {.size = 7, .context = 5, .thread = 1});
  of.freed(1, event_kind::free, 0);
  of.finish();
  EXPECT_EQ(of.result().figures()[0].allocations, 0U);
  EXPECT_EQ(of.result().figures()[0].active_threads, 0U);
  EXPECT_EQ(of.result().figures()[1].bytes, 7U);
  EXPECT_EQ(of.result().figures()[1].one_by_one, 1U);
  EXPECT_EQ(of.result().figures()[1].active_threads, 2U) << "who allocated, and who freed";
}

TEST(group_statistics, allocations_and_frees_are_operations_of_their_threads) {
  statistics_plan plan = one_group();
  plan.ns_per_operation = {100'000};
  life of(std::move(plan));
  of.allocated(1, {.thread = 0});
  of.reallocated(1, {.thread = 0});  // one operation
  of.allocated(2, {.thread = 1});
  of.freed(1, event_kind::free, 1);  // b is 0.2 for both
  const group_figures& found = of.finish();
  EXPECT_EQ(found.active_threads, 2U);
  EXPECT_DOUBLE_EQ(found.contention, 0.2 * 0.2);
  EXPECT_DOUBLE_EQ(found.overlaps, 0.2 * 0.2 * 10);
}

TEST(group_statistics, an_object_that_ends_during_a_reallocation_is_freed_beside_it) {
  group_statistics of(one_group());
  const auto allocated_at = [](std::uint64_t event) { return object{.allocation = event, .size = 10}; };
  for (std::uint32_t slot = 0; slot < 3; ++slot) of.allocated(slot, allocated_at(slot));
  object moved = allocated_at(1);
  moved.free = 3;
  moved.free_kind = event_kind::realloc;
  of.freed(1, moved);
  object at_its_new_address = allocated_at(2);
  at_its_new_address.free = 3;
  at_its_new_address.free_kind = event_kind::deallocate;
  of.freed(2, at_its_new_address);  // the youngest of three
  of.allocated(2, allocated_at(3));
  object first = allocated_at(0);
  first.free = 4;
  first.free_kind = event_kind::free;
  of.freed(0, first);
  of.finish();
  EXPECT_EQ(of.figures()[0].lifo, 1U);
  EXPECT_EQ(of.figures()[0].reallocated, 1U);
  EXPECT_EQ(of.figures()[0].one_by_one, 1U);
}

TEST(group_statistics, reallocations_to_nothing_are_frees) {
  group_statistics of(one_group());
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
  EXPECT_EQ(found.allocations, 6U);
  EXPECT_EQ(found.max_live_objects, 4U);
  EXPECT_EQ(found.reallocated, 0U);
  EXPECT_EQ(found.lifo, 2U);
  EXPECT_EQ(found.one_by_one, 1U);
  EXPECT_EQ(found.never, 3U);
}

TEST(group_statistics, compactness_is_of_each_group) {
  statistics_plan plan = two_groups();
  plan.events = 6;
  plan.moments = 3;  // behind events 1, 3 and 5
  life of(std::move(plan));
  of.allocated(1, {.size = 64});
  of.allocated(2, {.size = 128, .context = 1});
  of.allocated(3, {.size = 1});
  of.reallocated(1, {.size = 32});
  of.freed(2);
  of.freed(3);
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

TEST(group_statistics, live_bytes_over_time_are_of_each_group) {
  statistics_plan plan = two_groups();
  plan.end_time = 100;
  plan.buckets = 4;
  life of(std::move(plan));
  of.allocated(1, {.size = 64});
  of.allocated(2, {.size = 128, .context = 1});
  of.at(30);
  of.reallocated(1, {.size = 32});
  of.allocated(3, {.size = 1});
  of.at(60);
  of.freed(2);
  of.finish();
  EXPECT_EQ(of.result().live_bytes_over_time(),
            std::vector<std::uint64_t>({64, 64, 33, 33, 128, 128, 128, 0}));
}

TEST(group_statistics, every_object_of_a_long_random_life_ends_once) {
  std::mt19937_64 random(31);
  constexpr std::uint32_t groups = 5;
  life of({.groups = {.of_context = {0, 1, 2, 3, 4}, .groups = groups}});
  struct sums {
    std::uint64_t allocations = 0, bytes = 0, live_bytes = 0, live = 0, most_bytes = 0, most = 0,
                  reallocated = 0;
  };
  std::vector<sums> expected(groups);
  std::map<int, allocation> live;
  const auto add = [&](const allocation& b) {
    sums& in = expected[b.context];
    ++in.allocations;
    in.bytes += b.size;
    in.most_bytes = std::max(in.most_bytes, in.live_bytes += b.size);
    in.most = std::max(in.most, ++in.live);
  };
  const auto remove = [&](const allocation& b) {
    expected[b.context].live_bytes -= b.size;
    --expected[b.context].live;
  };
  for (int step = 0; step < 20'000; ++step) {
    const int name = static_cast<int>(random() % 300);
    const allocation b{.size = random() % 100, .context = static_cast<std::uint32_t>(random() % groups)};
    const auto found = live.find(name);
    if (found == live.end()) {
      of.allocated(name, b);
      add(b);
      live[name] = b;
    } else if (random() % 3 == 0) {
      remove(found->second);
      ++expected[found->second.context].reallocated;
      of.reallocated(name, b);
      add(b);
      found->second = b;
    } else {
      of.freed(name);
      remove(found->second);
      live.erase(found);
    }
  }
  of.finish();
  for (std::uint32_t group = 0; group < groups; ++group) {
    const group_figures& found = of.result().figures()[group];
    const sums& in = expected[group];
    EXPECT_EQ(found.allocations, in.allocations);
    EXPECT_EQ(found.bytes, in.bytes);
    EXPECT_EQ(found.max_live_bytes, in.most_bytes);
    EXPECT_EQ(found.max_live_objects, in.most);
    EXPECT_EQ(found.never, in.live);
    EXPECT_EQ(found.reallocated, in.reallocated);
    EXPECT_EQ(found.never + found.reallocated + found.together + found.lifo + found.one_by_one,
              in.allocations);
  }
}

object of(std::uint32_t context, std::uint32_t thread) { return {.context = context, .thread = thread}; }

TEST(grouping, by_context_leaves_the_thread_aside) {
  const grouping groups{.of_context = {2, 0, 1}, .groups = 3};
  EXPECT_EQ(groups.of(of(0, 1)), 2U);
  EXPECT_EQ(groups.of(of(1, 1)), 0U);
  EXPECT_EQ(groups.of(of(2, 0)), 1U);
}

TEST(grouping, by_thread_leaves_the_context_aside) {
  const grouping groups{.of_thread = {1, 0}, .groups = 2};
  EXPECT_EQ(groups.of(of(1, 0)), 1U);
  EXPECT_EQ(groups.of(of(0, 1)), 0U);
}

TEST(grouping, what_has_no_entry_is_of_group_0) {
  const grouping by_context{.of_context = {1, 1}, .groups = 2};
  const grouping by_thread{.of_thread = {1}, .groups = 2};
  EXPECT_EQ(by_context.of(of(2, 0)), 0U);
  EXPECT_EQ(by_thread.of(of(0, 1)), 0U);
}

}  // namespace
}  // namespace mallard::profile
