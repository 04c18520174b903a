#include "journal/context_interner.hpp"

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

std::uint32_t context_interner::intern(const context_node& wanted) {
  std::size_t at = find(wanted);
  if (slots_[at] != 0) return slots_[at];
  if (nodes_.size() == max_contexts) return 0;
  if (nodes_.size() * 2 > slots_.size()) {
    grow();
    at = find(wanted);
  }
  slots_[at] = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back(wanted);
  return slots_[at];
}

void context_interner::grow() {
  slots_.assign(slots_.size() * 2, 0);
  for (std::uint32_t i = 1; i < nodes_.size(); ++i) slots_[find(nodes_[i])] = i;
}

}  // namespace mallard::journal
