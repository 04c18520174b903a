#include "recorder/preload/thread/ring_state.hpp"

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
  for (ring_state*& known : states) {
    if (known == nullptr) continue;
    if (known == whole) {
      known->contexts.clear();
      known->stacks.clear();
    } else {
      unmap_pages(known, sizeof *known);
      known = nullptr;
    }
  }
}

}  // namespace mallard::recorder
