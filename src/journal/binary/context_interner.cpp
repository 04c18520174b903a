#include "journal/binary/context_interner.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace mallard::journal {
namespace {

std::size_t hash(const context_node& node) noexcept {
  std::uint64_t mixed =
      node.return_address + (std::uint64_t{node.parent} << 32 | node.name) * 0x9e3779b97f4a7c15U;
  mixed = (mixed ^ (mixed >> 29)) * 0xbf58476d1ce4e5b9U;
  return static_cast<std::size_t>(mixed ^ (mixed >> 32));
}

bool same(const context_node& a, const context_node& b) noexcept {
  return a.return_address == b.return_address && a.parent == b.parent && a.name == b.name;
}

}  // namespace

// The slot of `wanted`, or the free one where it belongs.
std::size_t context_interner::find(const context_node& wanted) const noexcept {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash(wanted) & mask;
  while (slots_[at] != 0 && !same(nodes_[slots_[at]], wanted)) at = (at + 1) & mask;
  return at;
}

context_interner::context_interner(std::vector<context_node> nodes) : nodes_(std::move(nodes)) {
  fill(std::bit_ceil(std::max<std::size_t>(nodes_.size() * 2, 1U << 12)));
}

std::uint32_t context_interner::intern(const context_node& wanted) {
  std::size_t at = find(wanted);
  if (slots_[at] != 0) return slots_[at];
  if (nodes_.size() == max_contexts) return 0;
  if (nodes_.size() * 2 > slots_.size()) {
    fill(slots_.size() * 2);
    at = find(wanted);
  }
  slots_[at] = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back(wanted);
  return slots_[at];
}

// Of equal nodes, which a damaged journal can have, the last is found.
void context_interner::fill(std::size_t slots) {
  slots_.assign(slots, 0);
  for (std::uint32_t i = 1; i < nodes_.size(); ++i) slots_[find(nodes_[i])] = i;
}

}  // namespace mallard::journal
