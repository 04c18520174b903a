#include "journal/binary/context_interner.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace mallard::journal {
namespace {

// Half of it is kept in a slot, as its upper half.
constexpr std::uint64_t kept_bits = 0xffffffff00000000;

std::uint64_t hash(const context_node& node) noexcept {
  std::uint64_t mixed =
      node.return_address + (std::uint64_t{node.parent} << 32 | node.name) * 0x9e3779b97f4a7c15U;
  mixed = (mixed ^ (mixed >> 29)) * 0xbf58476d1ce4e5b9U;
  return mixed ^ (mixed >> 32);
}

bool same(const context_node& a, const context_node& b) noexcept {
  return a.return_address == b.return_address && a.parent == b.parent && a.name == b.name;
}

}  // namespace

// The slot of `wanted`, whose hash is given, or the free one where it belongs.
std::size_t context_interner::find(const context_node& wanted, std::uint64_t hashed) const noexcept {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hashed & mask;
  while (slots_[at] != 0 && (((slots_[at] ^ hashed) & kept_bits) != 0 ||
                             !same(nodes_[static_cast<std::uint32_t>(slots_[at])], wanted)))
    at = (at + 1) & mask;
  return at;
}

context_interner::context_interner(std::vector<context_node> nodes) : nodes_(std::move(nodes)) {
  fill(std::bit_ceil(std::max<std::size_t>(nodes_.size() * 2, 1U << 12)));
}

std::uint32_t context_interner::intern(const context_node& wanted) {
  const std::size_t next = std::size_t{wanted.parent} + 1;
  if (wanted.parent != 0 && next <= nodes_.size()) {
    if (next == nodes_.size()) return add(wanted);  // the parent has no children yet
    if (same(nodes_[next], wanted)) return wanted.parent + 1;
  }
  const std::uint64_t hashed = hash(wanted);
  std::size_t at = find(wanted, hashed);
  if (slots_[at] != 0) return static_cast<std::uint32_t>(slots_[at]);
  if (used_ * 2 > slots_.size()) {
    fill(slots_.size() * 2);
    at = find(wanted, hashed);
  }
  const std::uint32_t index = add(wanted);
  if (index == 0) return 0;
  slots_[at] = (hashed & kept_bits) | index;
  ++used_;
  return index;
}

// Makes it the next node.
std::uint32_t context_interner::add(const context_node& node) {
  if (nodes_.size() == max_contexts) return 0;
  nodes_.push_back(node);
  return static_cast<std::uint32_t>(nodes_.size() - 1);
}

// Of equal nodes, which a damaged journal can have, one is found.
void context_interner::fill(std::size_t slots) {
  slots_.assign(slots, 0);
  used_ = 0;
  for (std::uint32_t i = 1; i < nodes_.size(); ++i) {
    if (nodes_[i].parent != 0 && nodes_[i].parent + 1 == i) continue;
    ++used_;
    const std::uint64_t hashed = hash(nodes_[i]);
    slots_[find(nodes_[i], hashed)] = (hashed & kept_bits) | i;
  }
}

}  // namespace mallard::journal
