// tree_node: a node of a tree that is linked through its nodes' own members.
//
//     [node]
//        | youngest
//        v
//     [child] <-- newer, older --> [child] <--> [child]        each knows its parent
//
// A node is given to a parent and taken out in O(1), and nothing is allocated for it. A walk visits children
// before their parents, the youngest first, and needs no stack, however deep the tree is; what it visits may
// be taken out meanwhile. Invariant: a node is in the list of its parent once, or has none. Not synchronised.
#pragma once

#include "mallard/core/check.hpp"
#include "mallard/core/usage.hpp"

namespace mallard {

class tree_node {
 public:
  tree_node() = default;
  tree_node(const tree_node&) = delete;
  tree_node& operator=(const tree_node&) = delete;

  [[nodiscard]] tree_node* parent() const noexcept { return parent_; }
  [[nodiscard]] bool has_children() const noexcept { return youngest_ != nullptr; }

  // Precondition: `child` has no parent, and is not above this node.
  void adopt(tree_node& child) noexcept {
    MALLARD_CHECK(child.parent_ == nullptr);
    child.parent_ = this;
    child.older_ = youngest_;
    if (youngest_ != nullptr) youngest_->newer_ = &child;
    youngest_ = &child;
  }

  // Takes this node, with what is below it, out of its parent's list, if it has a parent.
  void leave() noexcept {
    if (parent_ == nullptr) return;
    (newer_ == nullptr ? parent_->youngest_ : newer_->older_) = older_;
    if (older_ != nullptr) older_->newer_ = newer_;
    parent_ = newer_ = older_ = nullptr;
  }

  // Calls f(node) for each node below this one that `is_reached`, and whose ancestors up to here are. `f` may
  // take its node out. O(nodes reached, and their children).
  template <class IsReached, class F>
  void for_each_below(IsReached is_reached, F f) {
    for (tree_node* n = deepest(this, is_reached); n != this;) {
      tree_node* const above = n->parent_;
      tree_node* const next = first(n->older_, is_reached);
      f(*n);
      n = next == nullptr ? above : deepest(next, is_reached);
    }
  }

  // Whether the links of this node and its children agree. O(children).
  [[nodiscard]] violation validate() const noexcept {
    if (parent_ == nullptr && (newer_ != nullptr || older_ != nullptr))
      return {"tree_node: it has siblings but no parent"};
    const tree_node* newer = nullptr;
    for (const tree_node* c = youngest_; c != nullptr; newer = c, c = c->older_) {
      if (c->parent_ != this) return {"tree_node: a child has another parent"};
      if (c->newer_ != newer) return {"tree_node: two siblings disagree about which is the newer"};
    }
    return {};
  }

 private:
  // The first of n and its older siblings that is reached, or null.
  template <class IsReached>
  static tree_node* first(tree_node* n, IsReached is_reached) {
    while (n != nullptr && !is_reached(*n)) n = n->older_;
    return n;
  }

  template <class IsReached>
  static tree_node* deepest(tree_node* n, IsReached is_reached) {
    while (tree_node* const below = first(n->youngest_, is_reached)) n = below;
    return n;
  }

  tree_node* parent_ = nullptr;
  tree_node* youngest_ = nullptr;
  tree_node* newer_ = nullptr;
  tree_node* older_ = nullptr;
};

}  // namespace mallard
