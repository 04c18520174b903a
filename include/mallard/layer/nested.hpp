// nested<Heap>: heaps that end or are cleared with their parents.
//
//     root      [ chunks ]----------------------------+
//      +-- child, ends_with_parent   [ chunks ]-------+--> the root's upstream
//      |     +-- grandchild          [ chunks ]-------+
//      +-- child, cleared_with_parent [ chunks ]------+
//
// Each member of a family has chunks of its own, all from the root's upstream, and may end at any time.
//
//     what happens to a heap     its children cleared_with_parent     those that ends_with_parent
//     clear()                    are cleared, and so on downwards     stay as they are
//     release()                  are released, and so on downwards    stay as they are
//     rewind(mark)               stay as they are                     stay as they are
//     it ends                    end, and all that is below them      end, and all that is below them
//
// Children are ended first, the youngest before its older siblings, so a parent's block outlives what its
// children hold. A child that ended before its destructor is `ended()`: it holds nothing, has no parent and
// returns null for every request, and so does a child made of it. It may be destroyed at any time, or its
// memory simply be reused. A child may therefore lie in memory of its parent, if only the parent's end frees
// that memory; to clear the parent, destroy the child first. Figures and inspection (usage, owns, validate)
// are of one member, without its children.
// Invariant: a child that has not ended is linked below a parent that has not ended.
// Cost: allocate and deallocate are Heap's own; linking or unlinking a child takes ten instructions and never
// fails; operations that end or clear many are O(those ended or cleared, and their children). A family shares
// its upstream and its links: as far as threads are concerned, its members are one heap. Heap: its upstream
// is a shared_upstream<Upstream>, which it neither ends nor bypasses; after release() it holds nothing, and
// without its upstream it serves nothing. Seed 002, section 4.2 (nested regions) and 8.1 (NestedHeap).
#pragma once

#include <concepts>
#include <utility>

#include "mallard/core/attributes.hpp"
#include "mallard/core/check.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/source/upstream_ref.hpp"

namespace mallard {

// tree_node: a node of a tree that is linked through its nodes' own members.
//
//     [node]
//        | youngest
//        v
//     [child] <-- newer, older --> [child] <--> [child]        each knows its parent
//
// Linking and unlinking a node is O(1) and allocates nothing. A walk visits children before their parents,
// the youngest first, needs no stack however deep the tree is, and permits unlinking the visited node.
// Invariant: a node is in its parent's list exactly once, or has no parent. Not synchronised.
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

  // Unlinks this node, with everything below it, from its parent, if it has one.
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
  // The first of `n` and its older siblings that is reached, or null.
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

template <releasable Heap>
  requires(layered<Heap> && is_shared_upstream<typename Heap::upstream_type>)
class nested : private tree_node, public Heap {
  using shared = typename Heap::upstream_type;

 public:
  using upstream_type = typename shared::upstream_type;

  // A root; `args` construct the Heap.
  template <class... Args>
    requires std::constructible_from<Heap, Args...>
  explicit nested(Args&&... args) : Heap(std::forward<Args>(args)...) {}

  // A child. It has ended from the start if the parent has.
  nested(nested& parent, nesting how)
    requires std::constructible_from<Heap, typename shared::child_of>
      : Heap(typename shared::child_of{parent.Heap::upstream()}), nesting_(how) {
    if (!parent.ended()) parent.adopt(*this);
  }
  nested(const nested&) = delete;
  nested& operator=(const nested&) = delete;
  ~nested() {
    if (has_children()) end_descendants();
    leave();
  }

  // The root's upstream, which the whole family shares; precondition: this member has not ended.
  [[nodiscard]] upstream_type& upstream() noexcept { return Heap::upstream().upstream(); }
  [[nodiscard]] const upstream_type& upstream() const noexcept { return Heap::upstream().upstream(); }

  // Null for a root and for a member that has ended.
  [[nodiscard]] nested* parent() const noexcept { return static_cast<nested*>(tree_node::parent()); }
  [[nodiscard]] bool ended() const noexcept { return Heap::upstream().is_cut_off(); }

  void clear() noexcept
    requires clearable<Heap>
  {
    if (has_children()) for_each_cleared([](nested& n) { n.Heap::clear(); });
    Heap::clear();
  }

  void release() noexcept {
    if (has_children()) for_each_cleared([](nested& n) { n.Heap::release(); });
    Heap::release();
  }

  // Of this member only; O(children) beside Heap's.
  [[nodiscard]] violation validate() const noexcept
    requires inspectable<Heap>
  {
    if (violation v = Heap::validate()) return v;
    if (violation v = tree_node::validate()) return v;
    if (ended() && (tree_node::parent() != nullptr || has_children()))
      return {"nested: what has ended is still in its family"};
    if (ended() && Heap::usage().held != 0) return {"nested: what has ended still holds memory"};
    return {};
  }

 private:
  static nested& member(tree_node& n) noexcept { return static_cast<nested&>(n); }

  template <class F>
  MALLARD_NOINLINE void for_each_cleared(F f) noexcept {
    for_each_below([](tree_node& n) { return member(n).nesting_ == nesting::cleared_with_parent; },
                   [f](tree_node& n) { f(member(n)); });
  }

  MALLARD_NOINLINE void end_descendants() noexcept {
    for_each_below([](tree_node&) { return true; }, [](tree_node& n) { member(n).end(); });
  }

  void end() noexcept {
    Heap::release();
    Heap::upstream().cut_off();
    leave();
  }

  nesting nesting_ = nesting::ends_with_parent;
};

}  // namespace mallard
