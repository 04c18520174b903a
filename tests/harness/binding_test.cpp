#include "harness/binding.hpp"

#include <gtest/gtest.h>

namespace mallard::harness {
namespace {

TEST(Binding, HasTheNameOfTheTables) {
  EXPECT_EQ(name_of(binding::typed), "typed");
  EXPECT_EQ(name_of(binding::pmr), "pmr");
  EXPECT_EQ(name_of(binding::malloc), "malloc");
}

}  // namespace
}  // namespace mallard::harness
