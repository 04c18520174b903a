#include "mallard/journal/event.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

namespace mallard::journal {
namespace {

constexpr unsigned all_values = 256;

// Journals on disk hold these numbers.
TEST(event_kind, keeps_its_numbers) {
  const std::pair<event_kind, const char*> at_the_ends_of_groups[] = {
      {event_kind{0}, "none"},           {event_kind{1}, "malloc"},          {event_kind{10}, "allocate"},
      {event_kind{16}, "realloc"},       {event_kind{24}, "free"},           {event_kind{29}, "deallocate"},
      {event_kind{40}, "region_create"}, {event_kind{44}, "region_destroy"},
  };
  for (const auto& [kind, name] : at_the_ends_of_groups) EXPECT_EQ(name_of(kind), name);
}

TEST(event_kind, that_is_known_has_a_name_of_its_own) {
  std::set<std::string> names;
  std::size_t known = 0;
  for (unsigned value = 0; value < all_values; ++value) {
    const std::string name(name_of(static_cast<event_kind>(value)));
    if (name.empty()) continue;
    ++known;
    names.insert(name);
  }
  EXPECT_EQ(names.size(), known);
}

TEST(event_kind, that_is_known_means_exactly_one_thing) {
  for (unsigned value = 0; value < all_values; ++value) {
    const auto kind = static_cast<event_kind>(value);
    if (name_of(kind).empty() || kind == event_kind::none) continue;
    const int meanings =
        int{is_allocation(kind)} + int{is_reallocation(kind)} + int{is_free(kind)} + int{is_region(kind)};
    EXPECT_EQ(meanings, 1) << name_of(kind);
  }
  EXPECT_FALSE(is_allocation(event_kind::none) || is_free(event_kind::none));
}

}  // namespace
}  // namespace mallard::journal
