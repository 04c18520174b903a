#include "mallard/heap/adaptive_pool/slab.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

namespace mallard {
namespace {

struct free_memory {
  void operator()(std::byte* p) const { ::operator delete(p, std::align_val_t{16384}); }
};

// Two slabs of one chunk.
class Slab : public testing::Test {
 protected:
  slab* make(std::size_t index) {
    std::byte* const begin = memory_.get() + index * shape_.bytes();
    auto* const made = static_cast<slab*>(slab::header_at(shape_, begin));
    made->chunk = &chunk_;
    return made;
  }

  slab_shape shape_ = slab_shape::of<slab_form<>>(24, 8, slab::headers);
  std::unique_ptr<std::byte, free_memory> memory_{
      static_cast<std::byte*>(::operator new(2 * 8192, std::align_val_t{16384}))};
  slab_chunk chunk_{nullptr, nullptr, memory_.get(), 2 * 8192, memory_.get(), 3, 3};
};

TEST_F(Slab, HeadersAreNeverAmongItsFreeBlocks) {
  for (const std::size_t index : {0u, 1u}) {
    slab* const t = make(index);
    const auto front = static_cast<std::size_t>(t->begin(shape_) - memory_.get());
    EXPECT_EQ(front, index * shape_.bytes());
    std::size_t blocks = 0;
    for (std::size_t w = 0; w < shape_.words(); ++w) {
      const slab::word bits = t->all_of_word(shape_, w);
      for (std::size_t i = 0; i < slab_shape::slots_a_word; ++i) {
        if ((bits >> i & 1) == 0) continue;
        ++blocks;
        const std::byte* const slot = t->first_of_word(shape_, w) + i * shape_.size;
        EXPECT_LE(slot + shape_.size, t->begin(shape_) + shape_.bytes());
        const auto* const header = reinterpret_cast<const std::byte*>(t);
        const auto* const end = reinterpret_cast<const std::byte*>(t->words() + shape_.words()) +
                                (index == 0 ? sizeof(slab_chunk) : 0);
        EXPECT_TRUE(slot + shape_.size <= header || end <= slot) << "slot " << i << " of word " << w;
      }
    }
    EXPECT_GE(blocks, default_nodes_per_block);
    EXPECT_GE(blocks * shape_.size, shape_.bytes() - 8 * shape_.size) << "little is lost";
  }
}

TEST_F(Slab, OfWhichAllIsFreeHasAllBitsOfEachWord) {
  for (const std::size_t index : {0u, 1u}) {
    slab* const t = make(index);
    const std::size_t blocks = t->free_all(shape_);
    EXPECT_EQ(blocks, t->count_free(shape_));
    for (std::size_t w = 0; w < shape_.words(); ++w) EXPECT_EQ(t->words()[w], t->all_of_word(shape_, w)) << w;
  }
}

TEST_F(Slab, CountsBitsAndTellsWhenItIsLookedAt) {
  slab* const t = make(1);
  for (std::size_t w = 0; w < shape_.words(); ++w) t->words()[w] = w == 2 ? 0xff : 0;
  EXPECT_EQ(t->count_free(shape_), 8u);
  t->look_when(20, 8);
  EXPECT_EQ(t->until, 12u);
  EXPECT_EQ(t->goal, 20u);
}

struct element {
  element* newer = nullptr;
  element* older = nullptr;
};

constexpr auto any = [](const element*) { return true; };

TEST(IntrusiveList, TakesElementsOutOfAnyPlace) {
  element a, b, c;
  intrusive_list<element> list;
  for (element* e : {&a, &b, &c}) list.push_front(e);
  list.erase(&b);
  EXPECT_FALSE(list.validate(any));
  EXPECT_EQ(list.front(), &c);
  EXPECT_EQ(list.front()->older, &a);
  list.erase(&c);
  EXPECT_EQ(list.front(), &a);
  list.erase(&a);
  EXPECT_TRUE(list.empty());
}

TEST(IntrusiveList, TakesElementsAtBothEnds) {
  element a, b, c;
  intrusive_list<element> list;
  list.push_back(&b);
  list.push_front(&a);
  list.push_back(&c);
  for (element* e : {&a, &b, &c}) {
    EXPECT_FALSE(list.validate(any));
    EXPECT_EQ(list.front(), e);
    EXPECT_EQ(list.back(), &c);
    list.erase(e);
  }
  EXPECT_TRUE(list.empty());
  list.push_back(&b);
  EXPECT_EQ(list.front(), &b);
}

TEST(IntrusiveList, SeesBrokenLinksAndStrangers) {
  element a, b;
  intrusive_list<element> list;
  list.push_front(&a);
  list.push_front(&b);
  EXPECT_TRUE(list.validate([&](const element* e) { return e != &a; }));
  a.newer = nullptr;
  EXPECT_TRUE(list.validate(any));
}

}  // namespace
}  // namespace mallard
