#include "whole/builds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using mallard::whole::build;

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const build& c : mallard::whole::builds()) all.push_back(c.name());
  return all;
}

TEST(builds, begin_with_region_and_end_with_it) {
  EXPECT_EQ(names().front(), "region");
  EXPECT_EQ(names().back(), "region again");
}

TEST(builds, use_each_malloc_beneath_emulated_regions_and_beneath_none) {
  const std::vector<std::string> all = names();
  for (const mallard::harness::foreign_malloc& m : mallard::harness::foreign_mallocs())
    for (const char* kind : {"region_emulator ", "individual "})
      EXPECT_EQ(std::ranges::count(all, kind + std::string(m.name)), 1) << kind << m.name;
}

TEST(builds, have_different_names) {
  std::vector<std::string> all = names();
  std::ranges::sort(all);
  EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
}

std::string complaint_about(const std::vector<std::string>& asked) {
  try {
    static_cast<void>(mallard::whole::builds(asked));
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return {};
}

TEST(builds, are_chosen_by_name_or_kind_beside_the_first) {
  const auto chosen = [](const std::vector<std::string>& asked) {
    std::vector<std::string> all;
    for (const build& c : mallard::whole::builds(asked)) all.push_back(c.name());
    return all;
  };
  EXPECT_EQ(chosen({}), names());
  EXPECT_EQ(chosen({"individual jemalloc", "reap"}),
            (std::vector<std::string>{"region", "reap", "individual jemalloc"}));
  EXPECT_EQ(chosen({"individual"}).size(), 1 + mallard::harness::foreign_mallocs().size());
}

TEST(builds, that_are_unknown_are_refused_with_the_known_names) {
  EXPECT_EQ(complaint_about({"reap"}), "");
  EXPECT_TRUE(complaint_about({"reap", "hoard"})
                  .starts_with("unknown strategy hoard; known: region, sized_reap, sized_reap_frees, "))
      << complaint_about({"reap", "hoard"});
}

}  // namespace
