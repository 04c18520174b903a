// written_trace: traces that a fuzzer writes, instead of a generator with a seed.
//
//     bytes  [heap][sizing][profile][end][failures, if over a source of the suite][step][step][step]...
//
// A model enters a fuzz target by the line that enters it into the suite. Each step is checked as there. At
// the end all blocks are freed, or end with the heap, and every chunk must be back. Which heap a byte means
// depends on how many there are, so inputs belong to one revision. The target ends the program at the first
// failure.
#pragma once

#include <cstddef>
#include <vector>

#include "model/random_trace.hpp"

namespace mallard::model {

struct written_model {
  const char* heap;
  void (*run)(random_source& r);
};

// All models linked into this program.
inline std::vector<written_model>& written_models() {
  static std::vector<written_model> all;
  return all;
}

// Makes one request of the source fail, or all from one on, or none. Returns whether any can fail.
template <class M>
bool fail_as_written(rig<M>& under_test, random_source& r) {
  if constexpr (probed<M>) {
    source& below = source_of(under_test.heap);
    const std::size_t n = r.below(256);
    if (n >= 128) return false;
    n % 2 == 0 ? below.fail_at(1 + n / 2) : below.fail_from(1 + n / 2);
    return true;
  }
  return false;
}

// Whether a heap over a buffer may be full; bursts take megabytes.
template <class M>
bool may_be_full(const shadow<M>& s) {
  return !probed<M> && s.usage().granted > std::size_t{1} << 20;
}

template <class M>
void run_written_trace(random_source& r) {
  const chunk_registry registry(r.below(2) == 0 ? sizing::exact : sizing::paged);
  rig<M> under_test;
  shadow<M> s(under_test.heap, registry);
  const profile& p = profiles::all[r.below(profiles::all.size())];
  random_source ending(r.below(256));
  const bool can_fail = fail_as_written<M>(under_test, r);
  capability_steps<M> others;
  std::size_t phase = 7;
  while (!r.is_over()) {
    if (r.below(64) == 0) phase = 1 + r.below(7);
    take_step(s, p, r, others, phase, can_fail || may_be_full(s));
  }
  s.check();
  s.check_contents();
  if constexpr (probed<M>) {
    source_of(under_test.heap).fail_no_more();
    EXPECT_TRUE(s.allocate(usual_size<M>, 8)) << "it serves nothing after a request has failed";
  }
  if (!M::ends_its_blocks || ending.below(2) == 0) drain(s, ending);
}

// Replaces that of every_property.hpp: adds the model to those that a fuzzer chooses from.
template <class M>
bool has_every_property(const char* heap) {
  written_models().push_back({heap, run_written_trace<M>});
  return true;
}

}  // namespace mallard::model
