#include "mallard/heap/adaptive_pool/recurrence.hpp"

#include <gtest/gtest.h>

namespace mallard {
namespace {

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
