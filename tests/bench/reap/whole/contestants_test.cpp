#include "whole/contestants.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace {

using mallard::whole::contestant;

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const contestant& c : mallard::whole::contestants()) all.push_back(c.name());
  return all;
}

TEST(contestants, begin_with_region_and_end_with_it) {
  EXPECT_EQ(names().front(), "region");
  EXPECT_EQ(names().back(), "region again");
}

TEST(contestants, use_each_malloc_beneath_emulated_regions_and_beneath_none) {
  const std::vector<std::string> all = names();
  for (const mallard::harness::foreign_malloc& m : mallard::harness::foreign_mallocs())
    for (const char* kind : {"region_emulator ", "individual "})
      EXPECT_EQ(std::ranges::count(all, kind + std::string(m.name)), 1) << kind << m.name;
}

TEST(contestants, have_different_names) {
  std::vector<std::string> all = names();
  std::ranges::sort(all);
  EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
}

}  // namespace
