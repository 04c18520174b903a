// nested<Heap>: heaps that end with one another.
//
//     root      [ chunks ]----------------------------+
//      +-- child, ends_with_parent   [ chunks ]-------+--> the root's upstream
//      |     +-- grandchild          [ chunks ]-------+
//      +-- child, cleared_with_parent [ chunks ]------+
//
// Each member of a family has chunks of its own, all from the root's upstream, and ends at any time.
//
//     what happens to a heap     its children cleared_with_parent     those that ends_with_parent
//     clear()                    are cleared, and so on downwards     stay as they are
//     release()                  are released, and so on downwards    stay as they are
//     rewind(mark)               stay as they are                     stay as they are
//     it ends                    end, and all that is below them      end, and all that is below them
//
// Children come first, the youngest of them before the others, so a block of a parent outlives what its
// children hold. A child that has ended before its destructor is `ended()`: it holds nothing, has no parent,
// answers every request with null, and so does a child made of it. It may be destroyed at any time, or its
// memory just be used again. Hence a child may be built in memory of its parent if nothing but the parent's
// end takes that memory; to clear the parent, destroy it before.
// figures and inspection (usage, owns, validate) are those of one member, its children's not included.
// Invariant: a child that has not ended is linked below a parent that has not either.
// Cost: allocate and deallocate are Heap's own, nothing is added; a child is linked, and unlinked, in ten
// instructions and never fails; what ends or clears many is O(those ended or cleared, and the children of
// these). A family shares its upstream and its links: its members are one heap where threads are concerned.
// Heap: its upstream is a shared_upstream<Upstream>, which it neither ends nor reaches around; after
// release() it holds nothing, and without its upstream it serves nothing. Seed 002, section 4.2 (nested
// regions) and 8.1 (NestedHeap).
#pragma once

#include <concepts>
#include <utility>

#include "mallard/core/attributes.hpp"
#include "mallard/core/check.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/tree_node.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/source/shared_upstream.hpp"

namespace mallard {

template <releasable Heap>
  requires(layered<Heap> && is_shared_upstream<typename Heap::upstream_type>)
class nested : private tree_node, public Heap {
  using shared = typename Heap::upstream_type;

 public:
  using upstream_type = typename shared::upstream_type;

  // A root: what a Heap is made of, the root's upstream of it.
  template <class... Args>
    requires std::constructible_from<Heap, Args...>
  explicit nested(Args&&... args) : Heap(std::forward<Args>(args)...) {}

  // A child. It is born ended where the parent has ended.
  nested(nested& parent, nesting how)
      : Heap(typename shared::child_of{parent.Heap::upstream()}), nesting_(how) {
    if (!parent.ended()) parent.adopt(*this);
  }
  nested(const nested&) = delete;
  nested& operator=(const nested&) = delete;
  ~nested() {
    if (has_children()) end_descendants();
    leave();
  }

  // The root's, which the whole family shares; precondition: this member has not ended.
  [[nodiscard]] upstream_type& upstream() noexcept { return Heap::upstream().upstream(); }
  [[nodiscard]] const upstream_type& upstream() const noexcept { return Heap::upstream().upstream(); }

  // Null for a root, and for what has ended.
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

  // Of this member; O(children) beside Heap's.
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
