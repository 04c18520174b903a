#include "replay/trace/live_walk.hpp"

#include <algorithm>

#include "replay/trace/region_blocks.hpp"

namespace mallard::replay {
namespace {

constexpr std::uint64_t nobody = ~std::uint64_t{0};  // no block is so large

void replay_blocks(std::span<const op> ops, std::span<std::uint64_t> by_slot) {
  for (const op& o : ops) {
    if (o.kind == op_kind::resized_from) continue;
    by_slot[o.slot] = o.kind == op_kind::deallocate ? nobody : o.size;
  }
}

void replay_regions(std::span<const region_op> ops, std::size_t regions, std::span<std::uint64_t> by_slot) {
  region_blocks alive(by_slot.size(), regions);
  for (const region_op& o : ops) {
    switch (o.kind()) {
      case region_op_kind::create:
        break;
      case region_op_kind::allocate:
        alive.add(o, nullptr, 1);
        by_slot[o.block()] = o.size();
        break;
      case region_op_kind::deallocate:
        alive.remove(o.block());
        by_slot[o.block()] = nobody;
        break;
      case region_op_kind::clear:
      case region_op_kind::destroy:
      case region_op_kind::ended_by_clear:
      case region_op_kind::ended_by_destroy:
        alive.end_all(o.region(), [by_slot](std::uint32_t slot, const region_blocks::block&) {
          by_slot[slot] = nobody;
          return true;
        });
        break;
    }
  }
}

// Sizes by slot after the op of most live bytes; `nobody` where there is no block.
void replay_sizes(const trace& t, std::span<std::uint64_t> by_slot) {
  std::ranges::fill(by_slot, nobody);
  const trace_facts& f = t.facts();
  const std::size_t ops = std::min(f.ops, f.max_live_op + 1);
  if (f.of == subject::regions)
    replay_regions(t.region_ops().first(ops), f.region_slots, by_slot);
  else
    replay_blocks(t.ops().first(ops), by_slot);
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
