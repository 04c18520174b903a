#include "replay/run/latency.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "replay/allocator/none.hpp"
#include "replay/latency/located_operation.hpp"
#include "replay/run/run.hpp"
#include "replay/trace/events.hpp"

namespace mallard::replay {
namespace {

using testing::events;

constexpr double planted_ns = 5000;
constexpr double nearly_planted_ns = 4800;  // net of the clock's overhead

const harness::operation_clock& clock() {
  static const harness::operation_clock measured = harness::measured_clock();
  return measured;
}

void spend(double ns) {
  const harness::operation_meter meter = clock().meter();
  const std::uint64_t start = meter.before();
  while (clock().ns(meter.after() - start) < ns) {
  }
}

void fault_once() {
  void* const page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  *static_cast<volatile char*>(page) = 1;
  ::munmap(page, 4096);
}

// The baseline, but one operation in 10,000 takes five microseconds; every other of these has a page fault.
class planted : public none {
 public:
  explicit planted(const trace& t) : none(t), first_(t.ops().data()) {}

  static bool is_slow(std::size_t index) { return index % 10'000 == 4321; }

  void* allocate(const op& o) {
    plant(o);
    return none::allocate(o);
  }
  void deallocate(void* p, const op& o) {
    plant(o);
    none::deallocate(p, o);
  }

 private:
  void plant(const op& o) const {
    const auto index = static_cast<std::size_t>(&o - first_);
    if (!is_slow(index)) return;
    spend(planted_ns);
    if (index / 10'000 % 2 == 1) fault_once();
  }

  const op* first_;
};

// All turns, each in a thread of its own: the worker would stay on its CPU. The job of the last one.
template <class C>
std::unique_ptr<job> timed(const trace& t, std::uint64_t passes) {
  const harness::shared_file log(operation_log::bytes_for(t.recorded_ops().size()));
  auto task = std::make_unique<job>(job_kind::latency);
  task->latency.passes = passes;
  task->latency.turns = std::min(passes, latency_turns);
  task->latency.clock = clock();
  for (std::uint64_t turn = 0; turn < task->latency.turns; ++turn) {
    task->state = harness::work_state::unfinished;
    task->latency.turn = turn;
    task->latency.log = ::dup(log.descriptor());
    std::thread([&] { run<C>(t, *task); }).join();
    if (task->state != harness::work_state::done) break;
  }
  return task;
}

// 51,000 events, of which the first has no operation, and 1000 blocks that are never freed.
const trace& long_history() {
  static const trace t = [] {
    events history;
    history.free(7);
    for (std::uint64_t i = 1; i <= 26'000; ++i) {
      history.malloc(i, 8 + i % 90);
      if (i > 1000) history.free(i - 1000);
    }
    return history.build();
  }();
  return t;
}

TEST(Latency, APlantedSlownessIsFoundAndNamed) {
  const trace& t = long_history();
  const auto task = timed<planted>(t, 10);
  ASSERT_EQ(task->state, harness::work_state::done) << task->reason.data();
  const latencies& found = task->latency.found;

  ASSERT_GE(found.worst_count, 5u);
  const auto located = locate(t, std::span(found.worst).first(5));
  std::vector<std::size_t> ops;
  for (const located_operation& l : located) {
    ops.push_back(l.op);
    EXPECT_EQ(l.event, l.op + 1) << "event 0 has no operation";
    EXPECT_GE(l.ns, nearly_planted_ns);
    EXPECT_EQ(l.kind, operation_of(t.ops()[l.op].kind));
    EXPECT_EQ(l.size, t.ops()[l.op].size);
    EXPECT_GE(l.faults, l.op / 10'000 % 2) << l.op;
  }
  std::ranges::sort(ops);
  EXPECT_EQ(ops, (std::vector<std::size_t>{4321, 14'321, 24'321, 34'321, 44'321}));

  const latency_figures& allocations = found[operation::allocation];
  const latency_figures& frees = found[operation::deallocation];
  EXPECT_EQ(allocations.count, 26'000u);
  EXPECT_EQ(frees.count, 25'000u) << "those at the end of a pass are not the program's";
  EXPECT_GE(std::max(allocations.minimum.max, frees.minimum.max), nearly_planted_ns);
  EXPECT_LE(allocations.minimum.p50, allocations.raw.p50);
  EXPECT_LE(allocations.minimum.max, allocations.raw.max);
}

// Callocs take five microseconds, reallocations ten; allocations and frees nothing.
class slow_kinds : public none {
 public:
  using none::none;
  void* allocate_zeroed(const op& o) {
    spend(planted_ns);
    return none::allocate(o);
  }
  void* reallocate(void* p, const op&, const op&) {
    spend(2 * planted_ns);
    return p;
  }
};

TEST(Latency, CallocsAndReallocationsAreApart) {
  events history;
  for (std::uint64_t i = 1; i <= 200; ++i) history.malloc(i, 8).calloc(1000 + i, 8).realloc(i, i, 9).free(i);
  const trace t = history.build();
  const auto task = timed<slow_kinds>(t, 10);
  const latencies& found = task->latency.found;
  for (const operation kind : all_operations) EXPECT_EQ(found[kind].count, 200u) << name_of(kind);
  EXPECT_GE(found[operation::calloc].minimum.p50, nearly_planted_ns);
  EXPECT_GE(found[operation::reallocation].minimum.p50, planted_ns + nearly_planted_ns);
  EXPECT_LT(found[operation::allocation].minimum.p50, nearly_planted_ns);
  EXPECT_LT(found[operation::deallocation].minimum.p50, nearly_planted_ns);
  EXPECT_GE(found[operation::calloc].cold.p50, nearly_planted_ns);
}

// The n-th of its allocations takes n microseconds, through all passes of all turns.
class ever_slower : public none {
 public:
  using none::none;
  void* allocate(const op& o) {
    spend(1000.0 * ++calls);
    return none::allocate(o);
  }
  static inline int calls = 0;
};

TEST(Latency, EveryPassOfEveryTurnCounts) {
  const trace t = events().malloc(1, 8).free(1).build();
  for (const std::uint64_t passes : {1u, 3u, 5u, 7u}) {
    ever_slower::calls = 0;
    const auto task = timed<ever_slower>(t, passes);
    const std::uint64_t turns = std::min<std::uint64_t>(passes, latency_turns);
    // Of each turn: one untimed pass, as the baseline starts warm, a cold one, and its share, with more of
    // what is slow after each; at the end one more, for the page faults.
    EXPECT_EQ(ever_slower::calls, 2 * turns + passes * (1 + latency_times_again) + 1) << passes;
    const latency_figures& found = task->latency.found[operation::allocation];
    EXPECT_EQ(found.count, 1u);
    EXPECT_GE(found.minimum.max, 2800) << "the third call is the first that counts";
    EXPECT_GE(found.raw.max, 1000.0 * (ever_slower::calls - 1.0 - latency_times_again) - 200);
    EXPECT_GE(found.cold.max, 1000.0 * 2 - 200);
    if (passes > 1) {
      EXPECT_LT(found.minimum.max, found.raw.max - 1500) << "the first turn's are the lowest";
    }
  }
}

// Its allocations take five microseconds, but not in the passes that follow a timed one. A turn has seven,
// for the baseline starts warm; in the last one comes an eighth.
class slow_while_all_are_timed : public none {
 public:
  using none::none;
  void* allocate(const op& o) {
    if (calls++ % (3 + latency_times_again) < 3) spend(planted_ns);
    return none::allocate(o);
  }
  static inline std::size_t calls = 0;
};

TEST(Latency, WhatSeemsSlowIsTimedAgainForItsLowestAlone) {
  const trace t = events().malloc(1, 8).free(1).build();
  const auto task = timed<slow_while_all_are_timed>(t, latency_turns);
  const latency_figures& found = task->latency.found[operation::allocation];
  EXPECT_GE(found.raw.min, nearly_planted_ns);
  EXPECT_EQ(found.count, 1u);
  EXPECT_LT(found.minimum.max, nearly_planted_ns);
}

// Hands out one buffer, and refuses what is larger.
class small_only {
 public:
  explicit small_only(const trace&) {}

  void* allocate(const op& o) {
    if (o.size <= memory_.size()) return memory_.data();
    ++refusals;
    return nullptr;
  }
  void* allocate_aligned(const op& o) { return allocate(o); }
  void deallocate(void*, const op&) {}
  void* reallocate(void* p, const op&, const op&) { return p; }
  void end_pass() {}

  static inline int refusals = 0;

 private:
  std::array<char, 1024> memory_{};
};

TEST(Latency, ARefusedAllocationEndsIt) {
  const trace t = events().malloc(1, 8).malloc(2, 2000).build();
  const auto task = timed<small_only>(t, 3);
  EXPECT_EQ(task->state, harness::work_state::out_of_memory);
  EXPECT_EQ(task->stopped_at, 1u);
  EXPECT_EQ(small_only::refusals, 1);
}

std::string said;  // by the heap and by the meter, in order

std::uint64_t read() noexcept {
  said += '|';
  return 7 * said.size();
}

class talker {
 public:
  void* allocate(const op& o) {
    said += "a";
    return o.size > 1000 ? nullptr : memory.data();
  }
  void* allocate_aligned(const op&) {
    said += "m";
    return memory.data();
  }
  void* allocate_zeroed(const op&) {
    said += "c";
    return memory.data();
  }
  void deallocate(void* p, const op&) { said += p == memory.data() ? "f" : "?"; }
  void* reallocate(void* p, const op& to, const op& from) {
    said += p == memory.data() && to.size == 40 && from.size == 4 ? "r" : "?";
    return memory.data() + 1;
  }
  void end_pass() {}

  std::array<char, 100> memory{};
};

TEST(WatchedCall, StandsBetweenItsTwoReadingsAlone) {
  const trace t =
      events().malloc(1, 4).memalign(2, 4, 64).calloc(3, 4).free(3).realloc(1, 1, 40).malloc(4, 5000).build();
  talker heap;
  std::vector<void*> slots(t.facts().slots);
  const harness::operation_meter meter(read);
  const auto call = [&](std::size_t i, touch touched = touch::first) {
    said.clear();
    return watched_call(heap, &t.ops()[i], slots.data(), touched, meter);
  };
  EXPECT_EQ(call(0), 14u) << "two letters, and seven for each";
  EXPECT_EQ(said, "|a|");
  EXPECT_EQ(heap.memory[0], 1) << "touched";
  EXPECT_EQ(heap.memory[1], 0);
  call(1, touch::all);
  EXPECT_EQ(said, "|m|");
  EXPECT_EQ(heap.memory[3], 1);
  call(2);
  EXPECT_EQ(said, "|c|");
  call(3);
  EXPECT_EQ(said, "|f|");
  call(4);
  EXPECT_EQ(said, "|r|");
  EXPECT_EQ(slots[t.ops()[4].slot], heap.memory.data() + 1);
  ASSERT_EQ(t.ops()[6].size, 5000u);
  EXPECT_FALSE(call(6)) << "refused";
}

}  // namespace
}  // namespace mallard::replay
