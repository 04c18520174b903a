// What the programs over regions allocate by: the figures that they tell, and blocks of the right sizes.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "programs/memory/objects.hpp"
#include "programs/memory/tally.hpp"

namespace {

using namespace mallard::programs;

std::string printed(const tally& counted) {
  testing::internal::CaptureStderr();
  counted.print();
  return testing::internal::GetCapturedStderr();
}

TEST(tally, tells_totals_peaks_and_their_ratio) {
  tally counted;
  counted.begin({1, 100});
  counted.begin({1, 20});
  counted.end({1, 100});
  counted.begin({1, 30});
  counted.count_region();
  EXPECT_EQ(printed(counted),
            "total objects                     3\n"
            "max objects in use                2\n"
            "average size                   50.0\n"
            "total memory                    150\n"
            "max in use                      120\n"
            "total/max                       1.2\n"
            "regions                           1\n"
            "left alive                        2\n");
}

TEST(recorded_region, counts_until_its_clear_its_end_or_a_free) {
  using watched = recorded_region<kinds::individual>;
  {
    watched outer;
    watched inner(outer);
    void* const freed = outer.allocate(10, 1);
    outer.free(freed, 10, 1);
    void* const cleared = inner.allocate(20, 1);
    const std::string before = printed(tally::of_process());
    EXPECT_NE(before.find("left alive                        1\n"), std::string::npos) << before;
    inner.clear();
    const std::string after = printed(tally::of_process());
    EXPECT_NE(after.find("left alive                        0\n"), std::string::npos) << after;
    std::free(cleared);  // which no region ends here
  }
  EXPECT_NE(printed(tally::of_process()).find("regions                           2\n"), std::string::npos);
}

struct pair {
  std::uint64_t first = 1;
  std::uint32_t second = 2;
};

TEST(objects, are_made_where_asked_aligned_and_initialised) {
  region r;
  const pair* const made = make<pair>(r, pair{3, 4});
  EXPECT_EQ(made->first + made->second, 7u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(made) % alignof(pair), 0u);
  const pair* const array = make_array<pair>(r, 3);
  EXPECT_EQ(array[2].first, 1u);
  EXPECT_EQ(make_array<pair>(r, 0), nullptr);
}

}  // namespace
