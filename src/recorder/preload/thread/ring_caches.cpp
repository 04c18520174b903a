#include "recorder/preload/thread/ring_caches.hpp"

#include "recorder/preload/spool/raw_calls.hpp"

namespace mallard::recorder {
namespace {

ring_caches* caches[max_rings];

}  // namespace

ring_caches* caches_of_ring(std::uint32_t index) noexcept {
  if (caches[index] == nullptr) caches[index] = static_cast<ring_caches*>(map_pages(sizeof(ring_caches)));
  return caches[index];
}

void forget_ring_caches(ring_caches* whole) noexcept {
  for (ring_caches*& known : caches) {
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
