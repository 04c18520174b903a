// trace: random programs for a heap, the same for the same seed on every machine.
//
//     grow ---> churn ---> shrink ---> churn ---> ... ---> drain
//
// A profile says how large requests are and how many blocks live; a trace walks through phases that
// lean to allocating, to deallocating or to neither, ends blocks of any age, and in between uses what
// else the heap can do. The shadow checks each step.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "model/capability_steps.hpp"
#include "model/random.hpp"
#include "model/shadow.hpp"

namespace mallard::model {

struct profile {
  const char* name;
  std::size_t (*size)(random_source&);
  std::size_t (*align)(random_source&);
  std::size_t live;   // blocks that live at the same time, about
  std::size_t steps;  // of a trace
};

namespace profiles {

inline std::size_t usual_align(random_source& r) { return std::size_t{1} << r.below(5); }
inline std::size_t any_align(random_source& r) { return std::size_t{1} << r.below(14); }

inline constexpr profile small = {"small", [](random_source& r) { return r.below(129); }, usual_align, 200,
                                  1500};
inline constexpr profile one_size = {"one_size", [](random_source&) { return std::size_t{48}; },
                                     [](random_source&) { return std::size_t{8}; }, 300, 1500};
inline constexpr profile spread = {"spread", [](random_source& r) { return r.spread(1, 1 << 16); },
                                   usual_align, 60, 800};
inline constexpr profile edges = {
    "edges", [](random_source& r) { return (std::size_t{1} << r.below(17)) - 1 + r.below(3); }, usual_align,
    60, 800};
inline constexpr profile large = {"large", [](random_source& r) { return r.spread(1 << 10, 1 << 19); },
                                  usual_align, 12, 150};
inline constexpr profile aligned = {"aligned", [](random_source& r) { return r.spread(1, 1 << 14); },
                                    any_align, 60, 600};

inline constexpr std::array all = {small, one_size, spread, edges, large, aligned};

}  // namespace profiles

// A request of `p` that M's heap should serve.
struct request {
  std::size_t size, align;  // bytes
};

template <class M>
request draw(const profile& p, random_source& r) {
  const std::size_t size = std::min(p.size(r), M::largest_size);
  return {size, p.align(r)};
}

// Ends one block of any age, with any size that is allowed.
template <class M>
void deallocate_one(shadow<M>& s, random_source& r) {
  const std::size_t victim = r.below(4) == 0 ? s.youngest() : r.below(s.live());
  const live_block& b = s[victim];
  s.deallocate(victim, r.between(b.requested, b.received));
}

// How many steps of a random trace, and rounds of a loop that repeats the same work, are run. They are most
// of what the suite does, so two of its builds run all of them, clang's with AddressSanitizer and with
// ThreadSanitizer in `./dev test --all`; and so do the mutations.
#ifdef MALLARD_SHORT_TRACES
constexpr std::size_t steps_of(const profile& p) { return p.steps / 8; }
constexpr int rounds_of(int all) { return all / 3; }
#else
constexpr std::size_t steps_of(const profile& p) { return p.steps; }
constexpr int rounds_of(int all) { return all; }
#endif

// One step of a trace. While the heap is neither empty nor full, `phase` of 8 steps allocate.
template <class M>
void take_step(shadow<M>& s, const profile& p, random_source& r, capability_steps<M>& others,
               std::size_t phase, bool may_fail) {
  if (r.below(16) == 0) {
    others.run(s, r);
  } else if (s.live() == 0 || (s.live() < p.live && r.below(8) < phase)) {
    const request q = draw<M>(p, r);
    const bool served = s.allocate(q.size, q.align);
    EXPECT_TRUE(served || may_fail || s.broken())
        << "no memory for " << q.size << " bytes aligned to " << q.align;
  } else {
    deallocate_one(s, r);
  }
  s.check_step();
}

// Runs one trace of `p`; `may_fail` when the source is set to fail.
template <class M>
void run_trace(shadow<M>& s, const profile& p, std::uint64_t seed, bool may_fail = false) {
  SCOPED_TRACE(std::string("profile ") + p.name + ", seed " + std::to_string(seed));
  random_source r(seed);
  capability_steps<M> others;
  const std::size_t steps = steps_of(p);
  std::size_t phase = 0;
  for (std::size_t step = 0; step < steps; ++step) {
    if (step % (steps / 8 + 1) == 0) phase = 2 + 2 * r.below(3);
    if (step < steps / 8) phase = 7;
    take_step(s, p, r, others, phase, may_fail);
    if (s.broken()) {
      ADD_FAILURE() << "at step " << step;
      return;
    }
  }
  s.check();
  s.check_contents();
}

// Ends all blocks, in one of three orders.
template <class M>
void drain(shadow<M>& s, random_source& r) {
  const std::size_t order = r.below(3);
  while (s.live() > 0 && !s.broken()) {
    const std::size_t victim = order == 0 ? s.youngest() : order == 1 ? s.oldest() : r.below(s.live());
    s.deallocate(victim, r.between(s[victim].requested, s[victim].received));
    s.check_step();
  }
  s.check();
}

// A fresh heap for each profile, with its shadow and its registry: body(profile, shadow, registry).
template <class M, class Body>
void for_each_profile(Body body) {
  for (const profile& p : profiles::all) {
    SCOPED_TRACE(p.name);
    const chunk_registry registry;
    rig<M> under_test;
    shadow<M> s(under_test.heap, registry);
    body(p, s, registry);
  }
}

}  // namespace mallard::model
