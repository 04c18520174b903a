#include "replay/live_sizes.hpp"

#include <algorithm>

namespace mallard::replay {
namespace {

constexpr std::uint64_t nobody = ~std::uint64_t{0};  // no block is so large

// Sizes by slot after the op of most live bytes; `nobody` where there is no block.
void replay_sizes(const trace& t, std::span<std::uint64_t> by_slot) {
  std::ranges::fill(by_slot, nobody);
  for (const op& o : t.ops().first(std::min(t.ops().size(), t.facts().max_live_op + 1))) {
    if (o.kind == op_kind::resized_from) continue;
    by_slot[o.slot] = o.kind == op_kind::deallocate ? nobody : o.size;
  }
}

}  // namespace

live_sizes::live_sizes(const trace& t) {
  const std::size_t slots = t.facts().slots;
  const harness::scratch slot_memory(slots * sizeof(std::uint64_t), harness::fill::at_first_touch);
  const std::span<std::uint64_t> by_slot(static_cast<std::uint64_t*>(slot_memory.data()), slots);
  replay_sizes(t, by_slot);
  std::ranges::sort(by_slot);
  count_ = static_cast<std::size_t>(std::ranges::lower_bound(by_slot, nobody) - by_slot.begin());

  memory_ = harness::scratch(count_ * sizeof(harness::size_weight), harness::fill::at_first_touch);
  auto* const first = static_cast<harness::size_weight*>(memory_.data());
  harness::size_weight* last = first;
  for (const std::uint64_t size : by_slot.first(count_)) {
    if (last == first || last[-1].size != size) *last++ = {size, 0};
    ++last[-1].weight;
  }
  sizes_ = {first, last};
}

}  // namespace mallard::replay
