// address_sort<Node>: linked nodes in the order of their addresses, without memory beside them.
//
//     add(b) add(d) add(a) add(c)      slots: [ c ] [     ] [ a - b - d ] ...   of 1, 2, 4 ... nodes and more
//     take_all()                       a --> b --> c --> d --> null
//
// A node is merged with the sorted ones of the first slot, the two with those of the next, and so on to the
// first empty slot, where all of them wait. Cost: O(n log n) and half a KiB on the stack; nodes are linked by
// Next and SetNext, members of Node, which nothing else may use meanwhile.
#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include "mallard/core/align.hpp"

namespace mallard {

template <class Node, auto Next, auto SetNext>
class address_sort {
 public:
  void add(Node* n) noexcept {
    (n->*SetNext)(nullptr);
    std::size_t slot = 0;
    for (; slots_[slot] != nullptr; ++slot) n = merge(std::exchange(slots_[slot], nullptr), n);
    slots_[slot] = n;
  }

  // The one of the lowest address, which leads to the others; null where there is none.
  [[nodiscard]] Node* take_all() noexcept {
    Node* all = nullptr;
    for (Node*& sorted : slots_) all = merge(std::exchange(sorted, nullptr), all);
    return all;
  }

 private:
  static Node* merge(Node* a, Node* b) noexcept {
    Node* merged = nullptr;
    Node* last = nullptr;
    const auto append = [&](Node* to) { last == nullptr ? void(merged = to) : (last->*SetNext)(to); };
    while (a != nullptr && b != nullptr) {
      Node*& lower = address_of(a) < address_of(b) ? a : b;
      append(lower);
      last = lower;
      lower = (lower->*Next)();
    }
    append(a != nullptr ? a : b);
    return merged;
  }

  std::array<Node*, 64> slots_{};  // more than there can be nodes for
};

}  // namespace mallard
