// context_interner: the call tree while it is recorded, each node once.
//
// Open addressing over slots of [hash:32 | index:32]: one probe and one comparison for a node that is known,
// about 5 ns while the tree stays in the cache, and a probe for one that is new. The nodes themselves are the
// table that readers see. A node whose index follows on its parent's, as most do, is found there and has no
// slot.
#pragma once

#include <cstdint>
#include <vector>

#include "journal/events/process_tables.hpp"

namespace mallard::journal {

inline constexpr std::size_t max_contexts = std::size_t{1} << 25;  // as many as a reader takes, at least

class context_interner {
 public:
  context_interner() : slots_(1U << 12) {}

  // Continues a tree whose node 0 is the unknown context.
  explicit context_interner(std::vector<context_node> nodes);

  // The index of the node with this parent, name and return address, which is made where it is new.
  // Once max_contexts exist, new ones are 0, the unknown context.
  [[nodiscard]] std::uint32_t intern(const context_node& wanted);

  // nodes()[0] is the unknown context.
  [[nodiscard]] std::vector<context_node>& nodes() noexcept { return nodes_; }

 private:
  void fill(std::size_t slots);
  [[nodiscard]] std::uint32_t add(const context_node& node);
  [[nodiscard]] std::size_t find(const context_node& wanted, std::uint64_t hashed) const noexcept;

  std::vector<context_node> nodes_ = std::vector<context_node>(1);
  std::vector<std::uint64_t> slots_;  // 0: free
  std::size_t used_ = 0;              // slots
};

}  // namespace mallard::journal
