// pass: a whole trace against a contestant, in this process.
#pragma once

#include <new>
#include <span>

#include "harness/mapping.hpp"
#include "replay/run/pass.hpp"
#include "replay/trace/trace.hpp"

namespace mallard::footprint {

// `slots` has room for a pointer to each of the trace's slots. Throws std::bad_alloc where a request was
// refused.
template <replay::touch Touch, replay::contestant Contestant>
void pass(Contestant& c, const replay::trace& t, const harness::scratch& slots) {
  const std::span<const replay::op> ops = t.ops();
  const replay::op* const end = ops.data() + ops.size();
  if (replay::replay_pass<Touch>(c, ops.data(), end, static_cast<void**>(slots.data())) != end)
    throw std::bad_alloc();
}

}  // namespace mallard::footprint
