#include "replay/run/thread_pass.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "replay/trace/events.hpp"

namespace mallard::replay {
namespace {

using testing::events;
using testing::random_history;

// Writes down when each op began and ended, and holds threads up at random or as a test says. Blocks are
// numbers: the order of the op that made them, and one.
class witness {
 public:
  explicit witness(const trace& t)
      : begun_(t.facts().ops), ended_(t.facts().ops), thread_ended_(t.threads().size()), trace_(t) {}

  // Called in each op before it ends.
  void (*delay)(witness&, std::uint32_t order) = [](witness&, std::uint32_t) {};

  void begin_thread(const thread_part& part, std::uint64_t) {
    if (&part == trace_.threads().data()) return;  // the test's own thread, which goes on
    thread_local std::optional<farewell> at_end;
    at_end.emplace(*this, part);
  }
  void* allocate(const op& o) { return perform(o, nullptr); }
  void* allocate_aligned(const op& o) { return perform(o, nullptr); }
  void deallocate(void* p, const op& o) { perform(o, p); }
  void* reallocate(void* p, const op& to, const op&) { return perform(to, p); }
  void end_pass() {}

  // Whether everything that the step waits for was done before it began.
  [[nodiscard]] bool kept(const thread_step& s) const {
    if (s.after != no_step && ended_[s.after] >= begun_[s.order]) return false;
    for (std::uint32_t o = 0; o < s.all_before; ++o)
      if (ended_[o] >= begun_[s.order]) return false;
    return true;
  }
  // What the step had for its block.
  [[nodiscard]] std::uint64_t block_in(std::uint32_t order) const { return blocks_[order]; }

  [[nodiscard]] std::uint64_t begun(std::uint32_t order) const { return begun_[order]; }
  [[nodiscard]] std::uint64_t thread_ended(std::size_t n) const { return thread_ended_[n]; }
  [[nodiscard]] std::uint64_t now() { return clock_.fetch_add(1) + 1; }

 private:
  // On a thread's way out, when it flushes what it keeps.
  struct farewell {
    farewell(witness& w, const thread_part& p) : to(w), part(p) {}
    ~farewell() { to.thread_ended_[static_cast<std::size_t>(&part - to.trace_.threads().data())] = to.now(); }
    witness& to;
    const thread_part& part;
  };

  void* perform(const op& o, void* block) {
    // `what` is the first member of a step.
    const std::uint32_t order = reinterpret_cast<const thread_step&>(o).order;
    begun_[order] = now();
    blocks_[order] = reinterpret_cast<std::uintptr_t>(block);
    delay(*this, order);
    ended_[order] = now();
    return reinterpret_cast<void*>(std::uintptr_t{order} + 1);
  }

  std::atomic<std::uint64_t> clock_ = 0;
  std::vector<std::atomic<std::uint64_t>> begun_;
  std::vector<std::atomic<std::uint64_t>> ended_;
  std::vector<std::uint64_t> blocks_ = std::vector<std::uint64_t>(begun_.size());
  std::vector<std::uint64_t> thread_ended_;
  const trace& trace_;
};

pass_result run(const trace& t, witness& w) {
  const thread_rooms one(t, 1);
  return thread_pass<touch::none, witness>(w, one.rooms()).run();
}

// Now and then a thread gives way, and now and then it sleeps.
void hold_up(witness&, std::uint32_t order) {
  const std::uint32_t dice = order * 2654435761U >> 16;
  if (dice % 5 == 0) std::this_thread::yield();
  if (dice % 97 == 0) std::this_thread::sleep_for(std::chrono::microseconds(dice % 300));
}

void expect_all_kept(const trace& t, const witness& w) {
  for (const thread_part& part : t.threads())
    for (const thread_step& s : t.steps().subspan(part.first_step, part.steps)) {
      if (s.what.kind == op_kind::resized_from) continue;
      ASSERT_TRUE(w.kept(s)) << "order " << s.order;
      if (s.after == no_step) continue;
      ASSERT_EQ(w.block_in(s.order), s.after + 1) << "order " << s.order;
    }
}

TEST(ThreadPass, EveryStepBeginsWhenAllItWaitsForIsDone) {
  for (const unsigned seed : {1U, 2U, 3U}) {
    const trace t = random_history(2 + seed, 2000, seed).schedule(seed == 1 ? 3 : 64);
    witness w(t);
    w.delay = hold_up;
    ASSERT_EQ(run(t, w).end, pass_end::done);
    expect_all_kept(t, w);
  }
}

// The control of the test above: one edge taken out, and the thread that it went out from held up until the
// other has gone ahead.
TEST(ThreadPass, ABrokenEdgeIsNoticed) {
  const trace t = events().malloc(1, 8).malloc(2, 8).on_thread(1).free(1).on_thread(0).free(2).schedule();
  auto& remote = const_cast<thread_step&>(t.steps()[t.threads()[1].first_step]);
  ASSERT_EQ(remote.after, 0U);
  witness whole(t);
  ASSERT_EQ(run(t, whole).end, pass_end::done);
  EXPECT_TRUE(whole.kept(remote));

  thread_step as_it_was = remote;
  remote.after = no_step;
  remote.all_before = 0;
  witness broken(t);
  broken.delay = [](witness& w, std::uint32_t order) {
    if (order == 0)
      while (w.begun(2) == 0) std::this_thread::yield();
  };
  ASSERT_EQ(run(t, broken).end, pass_end::done);
  EXPECT_FALSE(broken.kept(as_it_was));
}

TEST(ThreadPass, AThreadBeginsWhenThoseThatEndedBeforeItAreGone) {
  events history;
  history.malloc(1, 8);
  for (std::uint32_t n = 1; n <= 40; ++n) history.on_thread(n).malloc(n + 1, 8).free(n + 1);
  history.on_thread(0).free(1);
  const trace t = history.schedule();
  ASSERT_EQ(t.facts().threads_at_once, 2U);
  witness w(t);
  w.delay = hold_up;
  ASSERT_EQ(run(t, w).end, pass_end::done);
  for (std::size_t n = 2; n < t.threads().size(); ++n) {
    ASSERT_NE(w.thread_ended(n - 1), 0U);
    EXPECT_LT(w.thread_ended(n - 1), w.begun(t.steps()[t.threads()[n].first_step].order));
  }
}

TEST(ThreadPass, PassesRepeat) {
  const trace t = random_history(4, 500, 9).schedule(16);
  const thread_rooms one(t, 1);
  for (int i = 0; i < 20; ++i) {
    witness w(t);
    ASSERT_EQ((thread_pass<touch::none, witness>(w, one.rooms()).run().end), pass_end::done);
    expect_all_kept(t, w);
  }
}

TEST(ThreadPass, ManyThreadsAtOnceComeToAnEnd) {
  const trace t = random_history(300, 6000, 5).schedule();
  EXPECT_GT(t.facts().threads_at_once, 200U);
  witness w(t);
  ASSERT_EQ(run(t, w).end, pass_end::done);
}

// Serves `left` allocations and no more.
class exhausted {
 public:
  explicit exhausted(int left, bool throws) : left_(left), throws_(throws) {}
  void* allocate(const op&) {
    if (left_.fetch_sub(1) > 0) return this;
    if (throws_) throw std::bad_alloc();
    return nullptr;
  }
  void* allocate_aligned(const op& o) { return allocate(o); }
  void deallocate(void*, const op&) {}
  void* reallocate(void*, const op& o, const op&) { return allocate(o); }
  void end_pass() {}

 private:
  std::atomic<int> left_;
  bool throws_;
};

TEST(ThreadPass, ARefusedAllocationEndsThePassForAllThreadsOfAllCopies) {
  const trace t = random_history(5, 2000, 11).schedule(8);
  for (const bool throws : {false, true})
    for (const std::size_t copies : {1U, 3U}) {
      exhausted heap(300, throws);
      const thread_rooms rooms(t, copies);
      const pass_result result = thread_pass<touch::none, exhausted>(heap, rooms.rooms()).run();
      EXPECT_EQ(result.end, pass_end::refused);
      if (copies == 1) {
        EXPECT_GE(result.stopped_at, 300U) << "as many were served before";
      }
    }
}

// A thread that begins when the one that was refused has ended would read what that never wrote.
TEST(ThreadPass, NoThreadBeginsAfterARefusal) {
  const trace t = events()
                      .malloc(1, 8)
                      .on_thread(1)
                      .malloc(2, 8)
                      .malloc(3, 8)
                      .on_thread(2)
                      .free(2)
                      .free(3)
                      .on_thread(0)
                      .free(1)
                      .schedule();
  ASSERT_EQ(t.threads()[1].lane, t.threads()[2].lane);
  struct refusing : exhausted {
    refusing() : exhausted(2, false) {}
    void deallocate(void* p, const op&) { freed_nothing |= p == nullptr; }
    bool freed_nothing = false;
  } heap;
  const thread_rooms one(t, 1);
  EXPECT_EQ((thread_pass<touch::none, refusing>(heap, one.rooms()).run().end), pass_end::refused);
  EXPECT_FALSE(heap.freed_nothing);
}

// Blocks of each copy are their own, but for those that the copy before frees.
class owners {
 public:
  void begin_thread(const thread_part&, std::uint64_t copy) { copy_ = copy; }
  void* allocate(const op&) { return reinterpret_cast<void*>(copy_ + 1); }
  void* allocate_aligned(const op& o) { return allocate(o); }
  void deallocate(void* p, const op& o) {
    const thread_step& s = reinterpret_cast<const thread_step&>(o);
    const std::uint64_t expected = s.crosses ? (copy_ + 1) % 3 : copy_;
    if (reinterpret_cast<std::uintptr_t>(p) != expected + 1) wrong_.fetch_add(1);
    if (s.crosses) crossed_.fetch_add(1);
  }
  void* reallocate(void*, const op& o, const op&) { return allocate(o); }
  void end_pass() {}

  [[nodiscard]] std::uint64_t wrong() const { return wrong_.load(); }
  [[nodiscard]] std::uint64_t crossed() const { return crossed_.load(); }

 private:
  static inline thread_local std::uint64_t copy_ = 0;
  std::atomic<std::uint64_t> wrong_ = 0;
  std::atomic<std::uint64_t> crossed_ = 0;
};

TEST(ThreadPass, CopiesHaveTheirOwnBlocksAndFreeAPartOfTheNextOnes) {
  const trace t = random_history(3, 3000, 17).schedule({.copies = 3, .crossing = 0.25});
  const double frees = static_cast<double>(t.facts().deallocations);
  EXPECT_NEAR(static_cast<double>(t.facts().crossing_frees) / frees, 0.25, 0.05);
  const thread_rooms three(t, 3);
  owners heap;
  ASSERT_EQ((thread_pass<touch::none, owners>(heap, three.rooms()).run().end), pass_end::done);
  EXPECT_EQ(heap.wrong(), 0U);
  EXPECT_EQ(heap.crossed(), 3 * t.facts().crossing_frees);
}

TEST(ThreadPass, WaitsAreCounted) {
  const trace t = random_history(3, 2000, 13).schedule(1);
  witness w(t);
  EXPECT_GT(run(t, w).waits.waits, 100U) << "each op of a window of one waits for the one before it";
}

}  // namespace
}  // namespace mallard::replay
