#include "mallard/thread/attached_parts.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <latch>
#include <thread>

namespace mallard {
namespace {

// A heap with a number for each thread.
struct numbered {
  struct part final : listed_part<part> {
    part(numbered& h, int n) : of(h), number(n) {}
    numbered& of;
    int number;
    int lives = 0;
  };

  ~numbered() { parts.detach_all(); }

  part* attach() {
    return parts.attach([this] { return make(); }, [](part& p) { ++p.lives; }, retire);
  }
  part* make() {
    if (refuses) return nullptr;
    return &made.emplace_back(*this, static_cast<int>(made.size()));
  }
  static void retire(attachment& a, attachment::end) noexcept {
    auto& p = static_cast<part&>(a);
    p.of.parts.retired(p);
  }

  bool refuses = false;
  std::deque<part> made;
  attached_parts<part> parts;
};

int number_of(numbered& heap) {
  numbered::part* const p = heap.parts.search();
  return p == nullptr ? -1 : p->number;
}

TEST(AttachedParts, AThreadFindsWhatItHasAttached) {
  numbered heap;
  numbered other;
  EXPECT_EQ(number_of(heap), -1);
  ASSERT_NE(heap.attach(), nullptr);
  EXPECT_EQ(number_of(heap), 0);
  EXPECT_EQ(heap.parts.find(), heap.parts.search());
  EXPECT_EQ(number_of(other), -1);
}

TEST(AttachedParts, TheNextThreadHasWhatAnEndedOneHad) {
  numbered heap;
  for (int i = 0; i < 3; ++i)
    std::thread([&] {
      ASSERT_NE(heap.attach(), nullptr);
      EXPECT_EQ(number_of(heap), 0);
      EXPECT_EQ(heap.parts.search()->lives, i + 1);
    }).join();
  EXPECT_EQ(heap.made.size(), 1u);
}

TEST(AttachedParts, ThreadsThatLiveAtTheSameTimeHaveOneEach) {
  numbered heap;
  ASSERT_NE(heap.attach(), nullptr);
  std::thread([&] {
    ASSERT_NE(heap.attach(), nullptr);
    EXPECT_EQ(number_of(heap), 1);
  }).join();
  EXPECT_EQ(number_of(heap), 0);
}

TEST(AttachedParts, WhatIsGivenUpIsTheNextThreadsAndNotFoundAnyMore) {
  numbered heap;
  ASSERT_NE(heap.attach(), nullptr);
  std::latch taken{1};
  std::latch done{1};
  std::thread next;
  for (int turn = 0; turn < 1000; ++turn) {  // through all slots of a thread's table, again and again
    int given = -1;
    heap.parts.give_up([&](numbered::part& p) { given = p.number; });
    EXPECT_EQ(given, 0);
    EXPECT_EQ(number_of(heap), -1);
    if (turn == 999) break;
    ASSERT_NE(heap.attach(), nullptr);
  }
  next = std::thread([&] {
    ASSERT_NE(heap.attach(), nullptr);
    EXPECT_EQ(number_of(heap), 0);
    taken.count_down();
    done.wait();
  });
  taken.wait();
  ASSERT_NE(heap.attach(), nullptr);
  EXPECT_EQ(number_of(heap), 1);
  done.count_down();
  next.join();
}

TEST(AttachedParts, AnIdleOneIsLentForAnOperation) {
  numbered heap;
  EXPECT_EQ(heap.parts.borrow(), nullptr);
  std::thread([&] { ASSERT_NE(heap.attach(), nullptr); }).join();
  numbered::part* const lent = heap.parts.borrow();
  ASSERT_NE(lent, nullptr);
  EXPECT_EQ(heap.parts.borrow(), nullptr);
  heap.parts.give_back(*lent);
  EXPECT_EQ(heap.parts.borrow(), lent);
  heap.parts.give_back(*lent);
  EXPECT_EQ(number_of(heap), -1);
}

TEST(AttachedParts, WithoutMemoryThereIsNone) {
  numbered heap;
  heap.refuses = true;
  EXPECT_EQ(heap.attach(), nullptr);
  EXPECT_EQ(number_of(heap), -1);
  heap.refuses = false;
  EXPECT_NE(heap.attach(), nullptr);
}

TEST(AttachedParts, DetachedPartsAreNeverFoundAgain) {
  numbered heap;
  ASSERT_NE(heap.attach(), nullptr);
  heap.parts.detach_all();
  EXPECT_EQ(number_of(heap), -1);
  EXPECT_EQ(heap.parts.newest(), nullptr);
  ASSERT_NE(heap.attach(), nullptr);
  EXPECT_EQ(number_of(heap), 1);
}

}  // namespace
}  // namespace mallard
