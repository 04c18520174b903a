// context_interner: the call tree while it is recorded, each node once.
//
// Open addressing over slots of [hash:32 | index:32]: one probe and one comparison for a node that is known,
// about 5 ns while the tree stays in the cache, and a probe for one that is new. The nodes themselves are the
// table that readers see. A node whose index follows on its parent's, as most do, is found there and has no
// slot. Modules that follow each other at one place are of different generations, the first of 0: their nodes
// are apart, though they have the same return address.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "journal/events/process_tables.hpp"

namespace mallard::journal {

inline constexpr std::size_t max_contexts = std::size_t{1} << 25;  // as many as a reader takes, at least

class context_interner {
 public:
  context_interner() : slots_(1U << 12) {}

  // Continues a tree whose node 0 is the unknown context, as if all in it were of generation 0.
  explicit context_interner(std::vector<context_node> nodes);

  // The index of the node with this parent, name and return address, of this generation, which is made where
  // it is new. Once max_contexts exist, new ones are 0, the unknown context.
  [[nodiscard]] std::uint32_t intern(const context_node& wanted, std::uint32_t generation = 0);

  // nodes()[0] is the unknown context.
  [[nodiscard]] std::vector<context_node>& nodes() noexcept { return nodes_; }

 private:
  void fill(std::size_t slots);
  [[nodiscard]] std::uint32_t add(const context_node& node, std::uint32_t generation);
  [[nodiscard]] bool is_at(std::size_t index, const context_node& wanted,
                           std::uint32_t generation) const noexcept;
  [[nodiscard]] std::size_t find(const context_node& wanted, std::uint32_t generation,
                                 std::uint64_t hashed) const noexcept;

  std::vector<context_node> nodes_ = std::vector<context_node>(1);
  std::vector<std::uint32_t> generations_ = std::vector<std::uint32_t>(1);  // of each node
  std::vector<std::uint64_t> slots_;                                        // 0: free
  std::size_t used_ = 0;                                                    // slots
};

namespace detail {

// Half of it is kept in a slot, as its upper half.
inline constexpr std::uint64_t kept_bits = 0xffffffff00000000;

inline std::uint64_t hash_of(const context_node& node, std::uint32_t generation) noexcept {
  std::uint64_t mixed = node.return_address + (std::uint64_t{generation} << 48) +
                        (std::uint64_t{node.parent} << 32 | node.name) * 0x9e3779b97f4a7c15U;
  mixed = (mixed ^ (mixed >> 29)) * 0xbf58476d1ce4e5b9U;
  return mixed ^ (mixed >> 32);
}

}  // namespace detail

inline bool context_interner::is_at(std::size_t index, const context_node& wanted,
                                    std::uint32_t generation) const noexcept {
  const context_node& node = nodes_[index];
  return node.return_address == wanted.return_address && node.parent == wanted.parent &&
         node.name == wanted.name && generations_[index] == generation;
}

// The slot of `wanted`, whose hash is given, or the free one where it belongs.
inline std::size_t context_interner::find(const context_node& wanted, std::uint32_t generation,
                                          std::uint64_t hashed) const noexcept {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hashed & mask;
  while (slots_[at] != 0 && (((slots_[at] ^ hashed) & detail::kept_bits) != 0 ||
                             !is_at(static_cast<std::uint32_t>(slots_[at]), wanted, generation)))
    at = (at + 1) & mask;
  return at;
}

inline context_interner::context_interner(std::vector<context_node> nodes)
    : nodes_(std::move(nodes)), generations_(nodes_.size()) {
  fill(std::bit_ceil(std::max<std::size_t>(nodes_.size() * 2, 1U << 12)));
}

inline std::uint32_t context_interner::intern(const context_node& wanted, std::uint32_t generation) {
  const std::size_t next = std::size_t{wanted.parent} + 1;
  if (wanted.parent != 0 && next <= nodes_.size()) {
    if (next == nodes_.size()) return add(wanted, generation);  // the parent has no children yet
    if (is_at(next, wanted, generation)) return wanted.parent + 1;
  }
  const std::uint64_t hashed = detail::hash_of(wanted, generation);
  std::size_t at = find(wanted, generation, hashed);
  if (slots_[at] != 0) return static_cast<std::uint32_t>(slots_[at]);
  if (used_ * 2 > slots_.size()) {
    fill(slots_.size() * 2);
    at = find(wanted, generation, hashed);
  }
  const std::uint32_t index = add(wanted, generation);
  if (index == 0) return 0;
  slots_[at] = (hashed & detail::kept_bits) | index;
  ++used_;
  return index;
}

// Makes it the next node.
inline std::uint32_t context_interner::add(const context_node& node, std::uint32_t generation) {
  if (nodes_.size() == max_contexts) return 0;
  nodes_.push_back(node);
  generations_.push_back(generation);
  return static_cast<std::uint32_t>(nodes_.size() - 1);
}

// Of equal nodes, which a journal that is continued can have, one is found.
inline void context_interner::fill(std::size_t slots) {
  slots_.assign(slots, 0);
  used_ = 0;
  for (std::uint32_t i = 1; i < nodes_.size(); ++i) {
    if (nodes_[i].parent != 0 && nodes_[i].parent + 1 == i) continue;
    ++used_;
    const std::uint64_t hashed = detail::hash_of(nodes_[i], generations_[i]);
    slots_[find(nodes_[i], generations_[i], hashed)] = (hashed & detail::kept_bits) | i;
  }
}

}  // namespace mallard::journal
