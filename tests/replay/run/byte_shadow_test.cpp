#include "replay/run/byte_shadow.hpp"

#include <gtest/gtest.h>

namespace mallard::replay {
namespace {

const void* at(std::uintptr_t address) { return reinterpret_cast<const void*>(address); }

TEST(ByteShadow, NeighboursDoNotOverlap) {
  byte_shadow shadow;
  EXPECT_TRUE(shadow.claim(at(0x7f0000001000), 17));
  EXPECT_TRUE(shadow.claim(at(0x7f0000001011), 47));
  EXPECT_TRUE(shadow.claim(at(0x7f0000000fff), 1));
}

TEST(ByteShadow, OneSharedByteIsAnOverlapAtEitherEndAndAcrossPages) {
  byte_shadow shadow;
  ASSERT_TRUE(shadow.claim(at(0x7f0000001ff0), 10'000));
  EXPECT_FALSE(shadow.claim(at(0x7f0000001fe1), 16));
  EXPECT_FALSE(shadow.claim(at(0x7f0000001ff0 + 9'999), 1));
  EXPECT_FALSE(shadow.claim(at(0x7f0000003000), 64));
}

TEST(ByteShadow, WhatWasLeftMayBeClaimedAgain) {
  byte_shadow shadow;
  ASSERT_TRUE(shadow.claim(at(0x10000), 100'000));
  EXPECT_TRUE(shadow.leave(at(0x10000), 100'000));
  EXPECT_FALSE(shadow.leave(at(0x10000), 1));
  EXPECT_TRUE(shadow.claim(at(0x10000), 100'000));
}

TEST(ByteShadow, AddressesFarApartHaveBitsOfTheirOwn) {
  byte_shadow shadow;
  EXPECT_TRUE(shadow.claim(at(0x000000001000), 8));
  EXPECT_TRUE(shadow.claim(at(0x000001001000), 8));
  EXPECT_TRUE(shadow.claim(at(0x001000001000), 8));
  EXPECT_TRUE(shadow.claim(at(0x7ffffffff000), 8));
}

TEST(ByteShadow, NothingOverlapsNothing) {
  byte_shadow shadow;
  EXPECT_TRUE(shadow.claim(at(0x1000), 0));
  EXPECT_TRUE(shadow.claim(at(0x1000), 0));
  EXPECT_TRUE(shadow.leave(at(0x1000), 0));
}

}  // namespace
}  // namespace mallard::replay
