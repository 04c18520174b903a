#include "recorder/preload/ring_state.hpp"

#include "recorder/preload/spool/pages.hpp"

namespace mallard::recorder {
namespace {

ring_state* states[max_rings];

}  // namespace

ring_state* state_of_ring(std::uint32_t index) noexcept {
  if (states[index] == nullptr) states[index] = static_cast<ring_state*>(map_pages(sizeof(ring_state)));
  return states[index];
}

void forget_ring_states(ring_state* whole) noexcept {
  for (ring_state*& state : states) {
    if (state == nullptr) continue;
    if (state == whole) {
      state->contexts.clear();
      state->stacks.clear();
    } else {
      unmap_pages(state, sizeof *state);
      state = nullptr;
    }
  }
}

}  // namespace mallard::recorder
