// worker: what one thread does to a heap that several use at once.
//
//     worker A [shadow] --blocks--> mailbox of B --> worker B [shadow] keeps them or ends them
//
// It draws its steps from a seed of its own; only when blocks of others arrive is up to chance. The
// contents of each block are its own from its allocation to its end: a block that overlaps one of another
// thread, or was handed out twice, is found damaged by whoever ends it. The heap's figures are for quiet
// times.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "model/capability_steps.hpp"
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

}  // namespace mallard::model
