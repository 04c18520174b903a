// Properties of heaps that end with others: families of random shape, of which members are made, used,
// cleared and ended in any order, beside what must then be true of each.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "model/random_trace.hpp"

namespace mallard::model {

// A family and what is known of each member. Members stand in the order in which they were made, the root
// first.
template <class M>
class family {
  using heap_type = typename M::heap;

 public:
  explicit family(const chunk_registry& registry) : registry_(registry) {
    members_.push_back(std::make_unique<member>(registry));
  }

  [[nodiscard]] std::size_t size() const { return members_.size(); }
  [[nodiscard]] heap_type& operator[](std::size_t i) { return *members_[i]->heap; }
  [[nodiscard]] shadow<M>& blocks(std::size_t i) { return members_[i]->blocks; }
  [[nodiscard]] bool ended(std::size_t i) const { return members_[i]->ended; }

  void add(std::size_t parent, nesting how) {
    members_.push_back(std::make_unique<member>(registry_, *members_[parent], how));
    // So that no two blocks have the same contents.
    members_.back()->blocks.count_allocations_from(++members_made_ << 32);
  }

  void allocate(std::size_t i, const request& q, bool may_fail = false) {
    const bool served = members_[i]->blocks.allocate(q.size, q.align);
    if (ended(i)) {
      EXPECT_FALSE(served) << "what has ended gives memory";
    } else {
      EXPECT_TRUE(served || may_fail || failure_flag::raised()) << "no memory for " << q.size << " bytes";
    }
  }

  void clear(std::size_t i)
    requires clearable<heap_type>
  {
    members_[i]->heap->clear();
    forget_cleared(*members_[i]);
  }

  void release(std::size_t i) {
    members_[i]->heap->release();
    forget_cleared(*members_[i]);
    if (!ended(i)) {
      EXPECT_EQ(members_[i]->heap->usage().held, 0u);
    }
  }

  // Ends a member; all when it is the root.
  void end(std::size_t i) {
    const std::unique_ptr<member> gone = std::move(members_[i]);
    members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(i));
    gone->heap.reset();
    for (const std::unique_ptr<member>& m : members_)
      if (!m->ended && m->descends_from(gone.get())) m->end();
    for (const std::unique_ptr<member>& m : members_)
      if (m->parent == gone.get()) m->parent = nullptr;
  }

  // What each member says of itself, and all together of their upstream.
  void check() const {
    std::size_t held = 0;
    for (const std::unique_ptr<member>& m : members_) {
      const heap_type& h = *m->heap;
      if (const violation v = h.validate()) ADD_FAILURE() << "validate: " << v.what;
      EXPECT_EQ(h.ended(), m->ended);
      EXPECT_EQ(h.parent(), m->parent == nullptr || m->ended ? nullptr : m->parent->heap.get());
      const heap_usage u = h.usage();
      if (m->ended) {
        EXPECT_EQ(u, heap_usage{}) << "what has ended holds memory";
      }
      if constexpr (M::reuses) {
        EXPECT_EQ(u.granted, granted(*m));
      } else {
        EXPECT_GE(u.granted, granted(*m));
      }
      held += u.held;
      m->blocks.check_contents();
    }
    if (members_.empty() || members_.front()->ended) {
      EXPECT_EQ(registry_.held(), 0u) << "the root has ended";
    } else {
      check_held(held);
    }
  }

 private:
  struct member {
    explicit member(const chunk_registry& registry)
        : heap(std::make_unique<heap_type>()), blocks(*heap, registry, company::shared) {}
    member(const chunk_registry& registry, member& above, nesting with)
        : heap(std::make_unique<heap_type>(*above.heap, with)),
          blocks(*heap, registry, company::shared),
          parent(above.ended ? nullptr : &above),
          how(with),
          ended(above.ended) {}

    [[nodiscard]] bool descends_from(const member* above) const {
      const member* m = parent;
      while (m != nullptr && m != above) m = m->parent;
      return m != nullptr;
    }

    // Its parent is left as it is: those below are found through it.
    void end() {
      ended = true;
      blocks.forget_since(0);
    }

    std::unique_ptr<heap_type> heap;
    shadow<M> blocks;
    member* parent = nullptr;
    nesting how = nesting::ends_with_parent;
    bool ended = false;
  };

  // Whether clearing `above` clears `m`.
  static bool is_cleared(const member* m, const member* above) {
    for (; m != above; m = m->parent)
      if (m == nullptr || m->ended || m->how != nesting::cleared_with_parent) return false;
    return true;
  }

  void forget_cleared(const member& cleared) {
    for (const std::unique_ptr<member>& m : members_) {
      if (!is_cleared(m.get(), &cleared)) continue;
      EXPECT_EQ(m->heap->usage().granted, 0u) << "it was cleared, or one above it";
      m->blocks.forget_since(0);
    }
  }

  static std::size_t granted(const member& m) {
    std::size_t sum = 0;
    for (std::size_t i = 0; i < m.blocks.live(); ++i) sum += m.blocks[i].granted;
    return sum;
  }

  // What all members hold, against what their upstream says.
  void check_held(std::size_t held) const {
    using upstream_type = typename heap_type::upstream_type;
    if constexpr (std::same_as<upstream_type, source>) {
      EXPECT_EQ(held, registry_.held());
    } else if constexpr (inspectable<upstream_type>) {
      EXPECT_EQ(held, members_.front()->heap->upstream().usage().granted);
    }
  }

  const chunk_registry& registry_;
  std::vector<std::unique_ptr<member>> members_;
  std::uint64_t members_made_ = 0;
};

template <class M>
struct families_live_and_end_in_any_order {
  static constexpr const char* name = "families_live_and_end_in_any_order";
  static constexpr bool applies = nestable<typename M::heap> && inspectable<typename M::heap> && probed<M>;
  static void check() {
    for (const std::uint64_t seed : {83u, 89u, 97u, 101u}) {
      const chunk_registry registry;
      family<M> all(registry);
      random_source r(seed);
      for (int step = 0; step < 1500 && !failure_flag::raised(); ++step) {
        act(all, r);
        all.check();
        if (failure_flag::raised()) ADD_FAILURE() << "at step " << step << " of seed " << seed;
      }
      all.end(0);
      all.check();
      while (all.size() != 0) all.end(r.below(all.size()));
    }
  }

 private:
  static void act(family<M>& all, random_source& r) {
    const std::size_t chosen = r.below(all.size());
    const std::size_t what = r.below(32);
    if (what < 4 && all.size() < 24) {
      all.add(chosen, r.below(2) == 0 ? nesting::ends_with_parent : nesting::cleared_with_parent);
    } else if (what < 6) {
      if (chosen != 0) all.end(chosen);
    } else if (what < 7) {
      all.release(chosen);
    } else if (what < 9) {
      if constexpr (clearable<typename M::heap>) all.clear(chosen);
    } else if (what < 13 && all.blocks(chosen).live() > 0) {
      deallocate_one(all.blocks(chosen), r);
    } else {
      all.allocate(chosen, draw<M>(r.below(8) == 0 ? profiles::spread : profiles::small, r));
    }
  }
};

template <class M>
struct a_child_needs_no_memory {
  static constexpr const char* name = "a_child_needs_no_memory";
  static constexpr bool applies = nestable<typename M::heap> && inspectable<typename M::heap> && probed<M>;
  static void check() {
    const chunk_registry registry;
    family<M> all(registry);
    source_of(all[0]).fail_from(1);
    for (std::size_t i = 0; i < 8; ++i) all.add(i, nesting::ends_with_parent);
    for (std::size_t i = 0; i < all.size(); ++i) all.allocate(i, {usual_size<M>, 8}, true);
    EXPECT_EQ(registry.held(), 0u);
    all.check();
    source_of(all[0]).fail_no_more();
    for (std::size_t i = 0; i < all.size(); ++i) all.allocate(i, {usual_size<M>, 8});
    all.check();
    all.end(4);
    all.check();
    EXPECT_TRUE(all.ended(7)) << "a grandchild of what was ended";
  }
};

}  // namespace mallard::model
