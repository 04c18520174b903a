#include "mallard/heap/adaptive_pool/slab_chunks.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "mallard/heap/monotonic.hpp"
#include "mallard/layer/failing.hpp"
#include "mallard/source/default_source.hpp"

namespace mallard {
namespace {

using four_a_chunk = constant<4 * 8192>;
using some = slab_chunks<default_source, slab_form<>, four_a_chunk>;

constexpr slab_shape shape = slab_shape::of<slab_form<>>(24, 8, slab::headers);

template <class Chunks>
std::vector<slab*> take(Chunks& chunks, std::size_t count) {
  std::vector<slab*> taken;
  for (; count != 0; --count) taken.push_back(chunks.take(shape));
  return taken;
}

TEST(SlabChunks, GiveAlignedSlabsOfWhichAllIsFree) {
  some chunks;
  for (slab* t : take(chunks, 9)) {
    EXPECT_TRUE(is_aligned(t->begin(shape), shape.piece()));
    EXPECT_EQ(t->count_free(shape), t->capacity);
    EXPECT_TRUE(chunks.owns(t));
  }
  EXPECT_EQ(chunks.held(), 3 * four_a_chunk::next(0, 0));
  EXPECT_FALSE(chunks.validate());
}

TEST(SlabChunks, TakeFromChunksInUseFirst) {
  some chunks;
  const std::vector<slab*> taken = take(chunks, 8);
  for (std::size_t i = 0; i < 4; ++i) chunks.put(shape, taken[i]);
  EXPECT_GT(chunks.idle(), 0u) << "a chunk of which no slab is used";
  chunks.put(shape, taken[6]);
  EXPECT_EQ(chunks.take(shape), taken[6]);
  EXPECT_FALSE(chunks.validate());
}

TEST(SlabChunks, KeepASixteenthOfWhatWasInUseAtMost) {
  some chunks;
  const std::vector<slab*> taken = take(chunks, 1000);
  const std::size_t most = chunks.held();
  for (slab* t : taken) chunks.put(shape, t);
  EXPECT_LE(chunks.held(), most / 16);
  EXPECT_GT(chunks.held(), most / 32);
  EXPECT_EQ(chunks.idle(), chunks.held());
  chunks.trim(0);
  EXPECT_EQ(chunks.held(), 0u);
}

TEST(SlabChunks, ForgetHowMuchWasInUse) {
  some chunks;
  const std::vector<slab*> taken = take(chunks, 1000);
  for (slab* t : taken) chunks.put(shape, t);
  const std::size_t kept = chunks.held();
  for (int turn = 0; turn < 10000; ++turn) chunks.put(shape, chunks.take(shape));
  for (slab* t : take(chunks, 8)) chunks.put(shape, t);
  EXPECT_LT(chunks.held(), kept);
}

TEST(SlabChunks, GiveAPeakBackToTheSystemAndKeepInItsCacheWhatComesAgain) {
  process_chunks().trim(0);
  const std::size_t before = process_chunks().mapped();
  some chunks;
  const auto cached_after_a_peak = [&](std::size_t slabs) {
    for (slab* t : take(chunks, slabs)) chunks.put(shape, t);
    EXPECT_LE(chunks.held(), 1000 * shape.bytes() / 8);
    return process_chunks().mapped() - before - chunks.held();
  };
  EXPECT_EQ(cached_after_a_peak(1000), 0u);
  EXPECT_GT(cached_after_a_peak(500), 400 * shape.bytes());
  const std::size_t again = cached_after_a_peak(1000);
  EXPECT_GT(again, 800 * shape.bytes());
  const std::size_t last = cached_after_a_peak(900);
  EXPECT_LE(last, again + four_a_chunk::next(0, 0)) << "more than came again is not kept";
  chunks.trim(0);
  EXPECT_EQ(process_chunks().mapped() - before, last) << "what is trimmed goes to the system";
}

TEST(SlabChunks, KeepAsManySlabsAsTheFormSays) {
  slab_chunks<default_source, slab_form<256, 4>, four_a_chunk> four;
  slab_chunks<default_source, slab_form<256, 3>, four_a_chunk> three;
  for (slab* t : take(four, 12)) four.put(shape, t);
  for (slab* t : take(three, 12)) three.put(shape, t);
  EXPECT_EQ(four.held(), four_a_chunk::next(0, 0));
  EXPECT_EQ(three.held(), 0u);
}

TEST(SlabChunks, TellNeighboursInUse) {
  some chunks;
  const std::vector<slab*> taken = take(chunks, 4);
  EXPECT_EQ(some::behind(shape, taken[0]), taken[1]);
  EXPECT_EQ(some::in_front(shape, taken[1]), taken[0]);
  EXPECT_EQ(some::in_front(shape, taken[0]), nullptr);
  EXPECT_EQ(some::behind(shape, taken[3]), nullptr);
  EXPECT_EQ(chunks.third_of_all(shape), taken[2]);
  chunks.put(shape, taken[1]);
  EXPECT_EQ(some::behind(shape, taken[0]), nullptr) << "not in use";
}

TEST(SlabChunks, TellNeighboursInTheOrderInWhichChunksWereUsedUp) {
  some chunks;
  EXPECT_EQ(chunks.third_of_all(shape), nullptr);
  const std::vector<slab*> taken = take(chunks, 11);
  EXPECT_EQ(chunks.third_of_all(shape), taken[2]);
  EXPECT_EQ(some::behind(shape, taken[3]), taken[4]);
  EXPECT_EQ(some::behind(shape, taken[7]), nullptr) << "the next chunk is not used up";
  EXPECT_EQ(some::behind(shape, taken[10]), nullptr);
  EXPECT_EQ(some::in_front(shape, taken[4]), nullptr);
  chunks.put(shape, taken[1]);
  EXPECT_EQ(chunks.third_of_all(shape), taken[6]);
  chunks.put(shape, taken[5]);
  EXPECT_EQ(chunks.third_of_all(shape), nullptr) << "chunks with unused slabs are none of all";
  EXPECT_EQ(chunks.take(shape), taken[5]);
  EXPECT_EQ(chunks.take(shape), taken[1]);
  EXPECT_EQ(some::behind(shape, taken[7]), taken[0]) << "used up anew";
}

TEST(SlabChunks, GoOnWithSmallerChunksAndWithoutMemory) {
  slab_chunks<failing<default_source>, slab_form<>, constant<262144>> chunks;
  chunks.upstream().fail_at(1);
  ASSERT_NE(chunks.take(shape), nullptr);
  EXPECT_LT(chunks.held(), 150000u);
  chunks.upstream().fail_from(1);
  std::size_t more = 0;
  while (chunks.take(shape) != nullptr) ++more;
  EXPECT_GT(more, 10u);
  EXPECT_FALSE(chunks.validate());
}

TEST(SlabChunks, EndWithAnUpstreamThatEndsAll) {
  slab_chunks<monotonic, slab_form<>, four_a_chunk> chunks;
  ASSERT_NE(chunks.take(shape), nullptr);
  chunks.clear();
  EXPECT_EQ(chunks.held(), 0u);
  ASSERT_NE(chunks.take(shape), nullptr);
  chunks.release();
  EXPECT_EQ(chunks.held(), 0u);
  EXPECT_EQ(chunks.upstream().usage().held, 0u);
}

TEST(Recurrence, APeakThatComesOnceIsNotKept) {
  recurrence of;
  of.take(1000);
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(of.keeps(100));
}

TEST(Recurrence, WhatWasWantedAgainIsKept) {
  recurrence of;
  of.take(1000);
  EXPECT_FALSE(of.keeps(1000));
  for (int turn = 0; turn < 3; ++turn) {
    of.take(600);
    EXPECT_TRUE(of.keeps(600));
  }
  of.take(600);
  EXPECT_TRUE(of.keeps(500));
  EXPECT_TRUE(of.keeps(100));
  EXPECT_FALSE(of.keeps(1)) << "no more than that";
}

TEST(Recurrence, GrowthIsNoRecurrence) {
  recurrence of;
  of.take(1000);
  EXPECT_FALSE(of.keeps(100));
  of.take(5000);
  EXPECT_TRUE(of.keeps(100));
  EXPECT_FALSE(of.keeps(100)) << "100 went to the system before";
}

}  // namespace
}  // namespace mallard
