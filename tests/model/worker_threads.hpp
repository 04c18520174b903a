// worker_threads: eight threads in one heap, round after round, with a quiet time after each.
//
//     owner    ---arms---|===========|--checks, release--|===========|--checks---> ...
//     thread 1           |---work----|                   |---work----|
//     ...                |           |                   |           |
//     thread 8           |-work-end  |                   |---work----|
//     thread 9           |    `-work-|                   |---work----|
//
// In every round some threads end in the middle of their work, which a new thread takes up, so that
// threads begin and end while others are in the heap. At quiet times the owner does what needs one: it
// looks at all live blocks together, compares what the heap tells with them, ends many blocks at once.
// Invariant: between rounds all threads wait, and those that ended are gone entirely.
#pragma once

#include <gtest/gtest.h>

#include <barrier>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "model/capability_steps.hpp"
#include "model/chunk_registry.hpp"
#include "model/random.hpp"
#include "model/random_trace.hpp"
#include "model/shadow.hpp"

namespace mallard::model {

// Blocks on their way to one thread. Any thread may put and take.
class mailbox {
 public:
  void put(const live_block& b) {
    const std::lock_guard lock(mutex_);
    blocks_.push_back(b);
  }

  [[nodiscard]] std::vector<live_block> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(blocks_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<live_block> blocks_;
};

// worker: what one thread does to a heap that several use at once.
//
//     worker A [shadow] --blocks--> mailbox of B --> worker B [shadow] keeps them or ends them
//
// It draws its steps from a seed of its own; only when blocks of others arrive is up to chance. The
// contents of each block are its own from its allocation to its end: a block that overlaps one of another
// thread, or was handed out twice, is found damaged by the thread that ends it. The heap's figures are
// for quiet times.
template <class M>
class worker {
 public:
  // The index-th of as many as have a mailbox.
  worker(typename M::heap& heap, const chunk_registry& registry, std::vector<mailbox>& mailboxes,
         std::size_t index, std::uint64_t seed)
      : mailboxes_(mailboxes),
        index_(index),
        random_(seed * mailboxes.size() + index),
        shadow_(heap, registry, company::shared) {}

  [[nodiscard]] random_source& random() { return random_; }

  // Its blocks and what arrived, for quiet times.
  [[nodiscard]] shadow<M>& blocks() {
    fetch();
    return shadow_;
  }

  // Allocations of round n are later than all of earlier rounds, and no two workers have the same ones.
  static constexpr std::uint64_t first_allocation(std::uint64_t round) { return round << 48; }
  void begin_round(std::uint64_t round) {
    shadow_.count_allocations_from(first_allocation(round) + (std::uint64_t{index_} << 32));
  }

  // Takes `steps` steps of `p`, its live blocks shared among the workers; `may_fail` when the source has
  // been told to.
  void work(const profile& p, std::size_t steps, bool may_fail) {
    SCOPED_TRACE(std::string("profile ") + p.name + ", worker " + std::to_string(index_));
    const std::size_t most = p.live / mailboxes_.size() + 3;
    for (; steps > 0 && !shadow_.broken(); --steps) {
      const std::size_t chosen = random_.below(16);
      if (chosen == 0) {
        fetch();
      } else if (chosen == 1) {
        capability_steps<M>::run_among_threads(shadow_, random_);
      } else if (shadow_.live() == 0 || (shadow_.live() < most && chosen < 10)) {
        const request q = draw<M>(p, random_);
        const bool served = shadow_.allocate(q.size, q.align);
        EXPECT_TRUE(served || may_fail || shadow_.broken()) << "no memory for " << q.size << " bytes";
      } else if (chosen < 13) {
        deallocate_one(shadow_, random_);
      } else {
        mailboxes_[random_.below(mailboxes_.size())].put(shadow_.give(random_.below(shadow_.live())));
      }
    }
  }

  // Ends all that it has.
  void drain() {
    fetch();
    while (shadow_.live() > 0 && !shadow_.broken()) deallocate_one(shadow_, random_);
  }

 private:
  void fetch() {
    for (const live_block& b : mailboxes_[index_].take()) shadow_.take(b);
  }

  std::vector<mailbox>& mailboxes_;
  const std::size_t index_;
  random_source random_;
  shadow<M> shadow_;
};

template <class M>
class worker_threads {
 public:
  static constexpr std::size_t size = 8;

  worker_threads(typename M::heap& heap, const chunk_registry& registry, std::uint64_t seed)
      : heap_(heap), registry_(registry), mailboxes_(size), gate_(size + 1) {
    workers_.reserve(size);
    for (std::size_t i = 0; i < size; ++i) workers_.emplace_back(heap, registry, mailboxes_, i, seed);
    const std::lock_guard lock(mutex_);
    for (worker<M>& w : workers_) threads_.emplace_back([this, &w] { wait_for_work(w); });
  }
  worker_threads(const worker_threads&) = delete;
  worker_threads& operator=(const worker_threads&) = delete;
  ~worker_threads() { dismiss(); }

  // Lets all threads take `steps` steps of `p` each; quiet again afterwards.
  void work(const profile& p, std::size_t steps, bool may_fail = false) {
    profile_ = &p;
    steps_ = steps;
    may_fail_ = may_fail;
    ++round_;
    for (worker<M>& w : workers_) w.begin_round(round_);
    gate_.arrive_and_wait();
    gate_.arrive_and_wait();
    join(std::exchange(ended_, {}));
  }

  // Checks what must hold at a quiet time.
  void check() {
    shadow<M> all(heap_, registry_);
    for (worker<M>& w : workers_)
      for (std::size_t i = 0; i < w.blocks().live(); ++i) all.take(w.blocks()[i]);
    all.check();
  }

  // Forgets all blocks of the round and later ones: the heap has ended them.
  void forget_since(std::uint64_t round) {
    for (worker<M>& w : workers_) w.blocks().forget_since(worker<M>::first_allocation(round));
  }

  // The round that comes next.
  [[nodiscard]] std::uint64_t next_round() const { return round_ + 1; }

  // The owner ends all blocks.
  void drain() {
    for (worker<M>& w : workers_) w.drain();
  }

  // Ends all threads; the last thing to be asked for.
  void dismiss() {
    if (threads_.empty()) return;
    profile_ = nullptr;
    gate_.arrive_and_wait();
    join(std::exchange(threads_, {}));
  }

 private:
  void wait_for_work(worker<M>& w) {
    for (;;) {
      gate_.arrive_and_wait();
      if (profile_ == nullptr) return;
      w.work(*profile_, steps_ / 2, may_fail_);
      if (w.random().below(4) == 0) return hand_over(w);
      finish_round(w);
    }
  }

  void finish_round(worker<M>& w) {
    w.work(*profile_, steps_ - steps_ / 2, may_fail_);
    gate_.arrive_and_wait();
  }

  // Lets a new thread take up the work of the calling one, which ends.
  void hand_over(worker<M>& w) {
    const std::lock_guard lock(mutex_);
    std::thread& mine = threads_[static_cast<std::size_t>(&w - workers_.data())];
    ended_.push_back(std::move(mine));
    mine = std::thread([this, &w] {
      finish_round(w);
      wait_for_work(w);
    });
  }

  static void join(std::vector<std::thread> threads) {
    for (std::thread& t : threads) t.join();
  }

  const crowd of_threads_;
  typename M::heap& heap_;
  const chunk_registry& registry_;
  std::vector<mailbox> mailboxes_;
  std::vector<worker<M>> workers_;
  std::barrier<> gate_;  // passed twice a round, by the owner too

  const profile* profile_ = nullptr;  // of this round; null when there is none to come
  std::size_t steps_ = 0;
  bool may_fail_ = false;
  std::uint64_t round_ = 0;

  std::mutex mutex_;  // for what follows, while threads work
  std::vector<std::thread> threads_;
  std::vector<std::thread> ended_;
};

}  // namespace mallard::model
