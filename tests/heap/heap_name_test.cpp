#include "mallard/heap/heap_name.hpp"

#include <gtest/gtest.h>

#include "mallard/heap/adaptive_multipool.hpp"
#include "mallard/heap/adaptive_pool.hpp"
#include "mallard/heap/best_fit.hpp"
#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/multipool.hpp"

namespace mallard {

struct unnamed {};
struct users_own {};
template <>
inline constexpr std::string_view heap_name<users_own> = "users_own";

namespace {

TEST(HeapName, IsThePlainNameOrTheStacking) {
  EXPECT_EQ(heap_name<adaptive_multipool>, "adaptive_multipool");
  EXPECT_EQ(heap_name<adaptive_pool>, "adaptive_pool");
  EXPECT_EQ(heap_name<best_fit>, "best_fit");
  EXPECT_EQ(heap_name<monotonic>, "monotonic");
  EXPECT_EQ(heap_name<multipool>, "multipool");
  EXPECT_EQ(heap_name<multipool_over_monotonic>, "multipool/monotonic");
}

TEST(HeapName, IsForOthersWhatTheySay) {
  EXPECT_TRUE(named<users_own>);
  EXPECT_FALSE(named<unnamed>);
}

}  // namespace
}  // namespace mallard
