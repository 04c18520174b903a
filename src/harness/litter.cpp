#include "harness/litter.hpp"

#include <algorithm>
#include <cstdlib>
#include <random>

#include "harness/memory_meter.hpp"
#include "mallard/core/pattern.hpp"

namespace mallard::harness {
namespace {

// What a block is filled with: another value than its neighbours are, most likely.
pattern mark_of(const void* p) noexcept {
  constexpr std::uint64_t spread = 0x9e3779b97f4a7c15u;  // each bit of an address tells in the highest eight
  return static_cast<pattern>(reinterpret_cast<std::uintptr_t>(p) * spread >> 56);
}

std::size_t together(std::span<const size_weight> sizes) noexcept {
  std::size_t whole = 0;
  for (const size_weight& s : sizes) whole += s.weight;
  return whole;
}

}  // namespace

heap_calls calls_of_malloc() noexcept {
  return {nullptr, [](void*, std::size_t size) { return std::malloc(size); },
          [](void*, void* p, std::size_t) { std::free(p); }};
}

litter::litter(const heap_calls& heap, const litter_plan& plan) : heap_(heap) {
  std::size_t count = 0;
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(plan.live, plan.times, &count) ||
      __builtin_mul_overflow(count, sizeof(block), &bytes) || bytes > available_memory() / 2) {
    shortage_ = "a list of so much litter does not fit into memory";
    return;
  }
  if (count == 0 || together(plan.sizes) == 0) return;
  memory_ = scratch(bytes, fill::at_first_touch);
  const std::span<block> blocks(static_cast<block*>(memory_.data()), count);
  std::mt19937_64 random(plan.seed);

  share_out(blocks, plan);
  std::ranges::shuffle(blocks, random);
  const std::size_t made = allocate(blocks);
  if (made != count) {
    deallocate(blocks.first(made));
    shortage_ = "no memory is left for so much litter";
    return;
  }
  std::ranges::shuffle(blocks, random);
  const std::size_t holes = count / one_freed_in(plan.times);
  deallocate(blocks.first(holes));
  left_ = blocks.subspan(holes);
}

void litter::share_out(std::span<block> blocks, const litter_plan& plan) noexcept {
  const std::size_t whole = together(plan.sizes);
  const std::size_t each = blocks.size() / whole;  // blocks for a weight of 1
  const std::size_t rest = blocks.size() % whole;
  std::size_t weight = 0;
  std::size_t next = 0;
  for (const size_weight& s : plan.sizes) {
    weight += s.weight;
    const std::size_t end = each * weight + rest * weight / whole;
    while (next < end) blocks[next++] = {nullptr, s.size};
  }
}

std::size_t litter::allocate(std::span<block> blocks) noexcept {
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    void* const p = heap_.allocate(heap_.heap, blocks[i].size);
    if (p == nullptr) return i;
    mallard::fill(p, blocks[i].size, mark_of(p));
    blocks[i].data = p;
  }
  return blocks.size();
}

void litter::deallocate(std::span<const block> blocks) noexcept {
  for (const block& b : blocks) heap_.deallocate(heap_.heap, b.data, b.size);
}

bool litter::is_intact() const noexcept {
  return std::ranges::all_of(
      left_, [](const block& b) { return first_other(b.data, b.size, mark_of(b.data)) == nullptr; });
}

void litter::take_away() noexcept {
  deallocate(left_);
  left_ = {};
}

}  // namespace mallard::harness
