// address_sort<Node>: sorts linked nodes by address without allocating.
//
//     add(b) add(d) add(a) add(c)      slots: [ c ] [     ] [ a - b - d ] ...   of 1, 2, 4 ... nodes and more
//     take_all()                       a --> b --> c --> d --> null
//
// A bottom-up merge sort: a new node is merged with the list in the first slot, the result with the list in
// the next slot, and so on until a slot is empty. Cost: O(n log n), and half a KiB of stack. Next and SetNext
// are the members of Node that link the nodes; nothing else may use the links meanwhile.
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

  // Returns the node with the lowest address, linked to the others; null if there is none.
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
