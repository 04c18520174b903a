#include "harness/mapping.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <system_error>

namespace mallard::harness {
namespace {

TEST(Mapping, ASharedFileGrowsAndKeepsWhatItHolds) {
  shared_file file(10);
  std::memcpy(file.data(), "mallard", 8);
  file.resize(1 << 20);
  EXPECT_EQ(file.size(), 1u << 20);
  EXPECT_STREQ(static_cast<char*>(file.data()), "mallard");
  EXPECT_EQ(static_cast<char*>(file.data())[file.size() - 1], 0);
}

TEST(Mapping, WhatOneSideWritesTheOtherReads) {
  const shared_file ours(4096);
  const shared_file theirs(::dup(ours.descriptor()), access::read);
  std::memcpy(ours.data(), "seen", 5);
  EXPECT_EQ(theirs.size(), ours.size());
  EXPECT_STREQ(static_cast<char*>(theirs.data()), "seen");
}

TEST(Mapping, AMovedFromFileHoldsNothing) {
  shared_file first(1);
  shared_file second(std::move(first));
  EXPECT_EQ(first.data(), nullptr);
  second = shared_file(2);
  EXPECT_NE(second.data(), nullptr);
}

TEST(Mapping, ScratchIsZeroAndMayBeEmpty) {
  const scratch memory(4096, fill::at_first_touch);
  EXPECT_EQ(static_cast<char*>(memory.data())[4095], 0);
  EXPECT_NE(scratch(0, fill::before_use).data(), nullptr);
}

TEST(Mapping, ADescriptorThatIsNoneIsAnError) {
  EXPECT_THROW(shared_file(-1, access::read), std::system_error);
}

}  // namespace
}  // namespace mallard::harness
