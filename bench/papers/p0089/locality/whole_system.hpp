// whole_system: G, many subsystems S with a list of numbers each, which long use shuffles.
//
//     G  [ * | * | * | * ]      vector of k = |G| / |S| pointers
//          v   v   v   v
//          S   S   S   S        heap of its own, or the process's; std::list<int>
//         ooo ooo ooo ooo       |S| links, made when S is, one S after another
//
//     shuffle: each S in turn loses its first link, and a random one gets a link at its end
//
// Invariant: there are always |G| links in all; any list may run empty, and is then passed over. Lists are
// visited round G, each visit a number of walks over all of its links: where one series of visits ends, the
// next begins, so that whatever is visited was left alone while all the others were. Seed 000, section 8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <random>
#include <vector>

#include "harness/cpu_clock.hpp"

namespace mallard::bench {

template <class Binding>
class subsystem {
  using list = std::list<int, typename Binding::template container_allocator<int>>;

 public:
  subsystem(Binding& binding, std::size_t links)
      : life_(binding), links_(life_.template allocator_of<int>()) {
    for (std::size_t i = 0; i < links; ++i) links_.push_back(static_cast<int>(i));
  }

  [[nodiscard]] std::size_t size() const { return links_.size(); }

  // Reads every number; what they add up to counts as used, and the next walk has to read them again.
  void walk() const {
    unsigned sum = 0;
    for (const int datum : links_) sum += static_cast<unsigned>(datum);
    asm volatile("" : : "r"(sum) : "memory");
  }

  // False if there is none.
  bool pop() {
    if (links_.empty()) return false;
    links_.pop_front();
    return true;
  }
  void push(int datum) { links_.push_back(datum); }

 private:
  typename Binding::life life_;
  list links_;
};

// Times of a series of visits, in ns of CPU time.
struct visit_times {
  std::uint64_t accesses = 0;
  double ns = 0;
};

template <class Binding>
class whole_system {
 public:
  // Precondition: 0 < links <= all.
  whole_system(Binding& binding, std::size_t all, std::size_t links) : subsystems_(all / links) {
    for (auto& s : subsystems_) s = std::make_unique<subsystem<Binding>>(binding, links);
  }

  [[nodiscard]] std::size_t subsystems() const { return subsystems_.size(); }
  [[nodiscard]] const subsystem<Binding>& operator[](std::size_t i) const { return *subsystems_[i]; }

  // `pairs` times: the first link of the subsystem whose turn it is, for a new one at the end of any.
  void shuffle(std::uint64_t pairs) {
    std::uniform_int_distribution<std::size_t> any(0, subsystems_.size() - 1);
    while (pairs != 0) {
      for (auto& s : subsystems_) {
        if (!s->pop()) continue;
        subsystems_[any(random_)]->push(static_cast<int>(pairs));
        if (--pairs == 0) break;
      }
    }
  }

  // The next `visits` subsystems, `walks` over each; without any, what it takes to go round.
  visit_times visit(std::uint64_t visits, std::uint64_t walks) {
    std::uint64_t links = 0;
    const std::uint64_t start = harness::thread_cpu_ns();
    for (; visits != 0; --visits) {
      const subsystem<Binding>& s = take_turn();
      links += s.size();
      for (std::uint64_t i = 0; i < walks; ++i) s.walk();
    }
    return {links * walks, static_cast<double>(harness::thread_cpu_ns() - start)};
  }

  // One visit of `walks`, of which only `made` (at least two) are made; those left out are taken to last as
  // long as the ones after the first. Going to the subsystem is not part of it.
  visit_times visit_in_part(std::uint64_t walks, std::uint64_t made) {
    const subsystem<Binding>& s = take_turn();
    const std::uint64_t start = harness::thread_cpu_ns();
    s.walk();
    const std::uint64_t second = harness::thread_cpu_ns();
    for (std::uint64_t i = 1; i < made; ++i) s.walk();
    const std::uint64_t end = harness::thread_cpu_ns();
    const double later = static_cast<double>(end - second) / static_cast<double>(made - 1);
    return {s.size() * walks, static_cast<double>(second - start) + static_cast<double>(walks - 1) * later};
  }

 private:
  const subsystem<Binding>& take_turn() {
    if (next_ == subsystems_.size()) next_ = 0;
    return *subsystems_[next_++];
  }

  std::vector<std::unique_ptr<subsystem<Binding>>> subsystems_;
  std::size_t next_ = 0;  // whose turn it is to be visited
  std::mt19937_64 random_;
};

}  // namespace mallard::bench
