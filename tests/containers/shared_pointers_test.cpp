// std::allocate_shared over every heap: the object and its counts in one block, given back by the last owner.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "containers/element.hpp"
#include "containers/heaps.hpp"

namespace mallard::containers {
namespace {

template <class Memory>
struct shared_checks {
  static void all() {
    one_block_for_both();
    weak_ones_keep_the_block();
    constructors_that_throw();
    requests_that_fail();
    over_aligned_objects();
    EXPECT_EQ(element::alive(), 0) << "elements never destroyed";
  }

  static void one_block_for_both() {
    Memory memory;
    std::vector<std::shared_ptr<element>> owners;
    for (int n = 0; n != 100; ++n) owners.push_back(std::allocate_shared<element>(memory.get(), n));
    const std::vector<std::shared_ptr<element>> more = owners;
    EXPECT_EQ(memory.blocks().live(), 100u);
    EXPECT_TRUE(memory.blocks().has(owners.front().get()));
    EXPECT_EQ(more.back()->number(), 99);
    owners.clear();
    EXPECT_EQ(memory.blocks().live(), 100u);
  }

  static void weak_ones_keep_the_block() {
    Memory memory;
    std::weak_ptr<element> weak;
    {
      const auto owner = std::allocate_shared<element>(memory.get(), 1);
      weak = owner;
    }
    EXPECT_EQ(element::alive(), 0);
    EXPECT_EQ(memory.blocks().live(), 1u);
    EXPECT_EQ(weak.lock(), nullptr);
    weak.reset();
    EXPECT_EQ(memory.blocks().live(), 0u);
  }

  static void constructors_that_throw() {
    Memory memory;
    element::fail_at(1);
    EXPECT_THROW((void)std::allocate_shared<element>(memory.get(), 1), element_failed);
    element::fail_at(0);
    EXPECT_EQ(memory.blocks().live(), 0u);
  }

  static void requests_that_fail() {
    Memory memory;
    memory.blocks().fail_at(1);
    EXPECT_THROW((void)std::allocate_shared<element>(memory.get(), 1), std::bad_alloc);
    EXPECT_EQ(std::allocate_shared<element>(memory.get(), 1)->number(), 1);
  }

  static void over_aligned_objects() {
    Memory memory;
    const auto owner = std::allocate_shared<wide>(memory.get(), 1);
    EXPECT_TRUE(is_aligned(owner.get(), alignof(wide)));
  }
};

const bool held = register_for_every_heap<shared_checks>("shared_pointers");

}  // namespace
}  // namespace mallard::containers
