#include "profile/region_instances.hpp"

#include <gtest/gtest.h>

#include "journal/events/batch_of.hpp"
#include "profile/pairing.hpp"

namespace mallard::profile {
namespace {

using journal::event;
using journal::event_kind;

TEST(region_instances, totals_count_what_is_allocated_in_regions_and_nothing_else) {
  const std::uint64_t outer = 0x10;
  const std::uint64_t inner = 0x20;
  const event events[] = {
      {.kind = event_kind::malloc, .address = 0x1000, .size = 4096},
      {.kind = event_kind::region_create, .region = outer},
      {.kind = event_kind::region_allocate, .address = 0x1000, .size = 100, .region = outer},
      {.kind = event_kind::region_create, .region = inner, .parent = outer},
      {.kind = event_kind::region_allocate, .address = 0x1100, .size = 30, .region = inner},
      {.kind = event_kind::region_allocate, .address = 0x1200, .size = 50, .region = inner},
      {.kind = event_kind::region_free, .address = 0x1200, .region = inner},
      {.kind = event_kind::region_clear, .region = outer},  // ends the inner one, too
      {.kind = event_kind::region_allocate, .address = 0x1000, .size = 20, .region = outer},
      {.kind = event_kind::region_destroy, .region = outer},
  };
  region_instances regions;
  pairing pairs({&regions}, 1);
  pairs.add(journal::batch_of(events));
  pairs.finish();
  EXPECT_EQ(regions.totals().regions, 2u);
  EXPECT_EQ(regions.totals().objects, 4u);
  EXPECT_EQ(regions.totals().bytes, 200u);
  EXPECT_EQ(regions.totals().peak_live_bytes, 180u);
  EXPECT_EQ(regions.totals().peak_live_objects, 3u);
}

}  // namespace
}  // namespace mallard::profile
