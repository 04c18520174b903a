// Nodes that change their container: extract, insert and merge, between containers of one heap. Each of
// them moves a node as it is, so none asks for a block, and what a handle holds is given back by it.
#pragma once

#include <gtest/gtest.h>

#include "containers/requirements.hpp"

namespace mallard::containers {

template <class Unique, class Multi, class Memory>
struct node_handles {
  using unique = typename Unique::template of<element, Memory>;
  using multi = typename Multi::template of<element, Memory>;

  static void all() {
    extract_and_insert();
    merge();
    EXPECT_EQ(element::alive(), 0) << "elements never destroyed";
  }

  static void extract_and_insert() {
    Memory memory;
    unique from(memory.get());
    unique to(memory.get());
    for (int n = 0; n != few; ++n) Unique::add(from, n);
    expect_no_request(memory);
    auto node = from.extract(from.begin());
    EXPECT_TRUE(node.get_allocator() == from.get_allocator());
    EXPECT_TRUE(to.insert(std::move(node)).inserted);
    EXPECT_EQ(to.size(), 1u);
    const std::size_t before = memory.blocks().live();
    {
      const auto dropped = from.extract(from.begin());
    }
    EXPECT_EQ(memory.blocks().live(), before - 1) << "a handle gives back what it holds";
    memory.blocks().fail_at(0);
  }

  static void merge() {
    Memory memory;
    unique some(memory.get());
    multi all(memory.get());
    for (int n = 0; n != few; ++n) Unique::add(some, n);
    for (int n = few / 2; n != 2 * few; ++n) Multi::add(all, n);
    expect_no_request(memory);
    some.merge(all);
    EXPECT_EQ(numbers_in(some), numbers_from(0, 2 * few));
    EXPECT_EQ(numbers_in(all), numbers_from(few / 2, few));
    all.merge(std::move(some));
    EXPECT_EQ(all.size(), static_cast<std::size_t>(2 * few + few / 2));
    EXPECT_TRUE(some.empty());
    memory.blocks().fail_at(0);
  }

 private:
  // From here on a block is a failure; but an array of buckets may be another size afterwards.
  static void expect_no_request(Memory& memory) {
    constexpr bool has_buckets = requires(unique& c) { c.bucket_count(); };
    memory.blocks().fail_from(has_buckets ? 0 : 1);
  }
};

// node_handles of two kinds whose nodes fit into each other, as a template over memory.
template <class Unique, class Multi>
struct node_handles_of {
  template <class Memory>
  using on = node_handles<Unique, Multi, Memory>;
};

}  // namespace mallard::containers
