#include "p0089/density/density.hpp"

#include <gtest/gtest.h>

#include <memory_resource>
#include <nlohmann/json.hpp>

#include "common/pmr_bindings.hpp"

namespace mallard::bench {
namespace {

TEST(Density, LeavesAreElementsOrElementsOfElements) {
  EXPECT_EQ(leaves_of({1, 6, 0, true}), 64u);
  EXPECT_EQ(leaves_of({4, 16, 0, true}), 65536u);
  EXPECT_EQ(leaves_of({5, 6, 0, true}), 64u * 128);
  EXPECT_EQ(leaves_of({12, 16, 0, true}), 65536u * 128);
}

TEST(Density, NeedsMoreForStringsAndForNesting) {
  EXPECT_GT(bytes_needed({2, 10, 0, true}), bytes_needed({1, 10, 0, true}));
  EXPECT_GT(bytes_needed({7, 10, 0, true}), bytes_needed({3, 10, 0, true}));
  EXPECT_LT(bytes_needed({12, 16, 0, true}), std::uint64_t{20} << 30)
      << "all of the paper's cells fit 20 GiB";
}

TEST(Density, NamesItsGroup) {
  EXPECT_EQ(group_of(density_setting{3, 10, 20, false}).dump(),
            R"({"structure":"DS3","size":10,"leaves":20,"cached_hashes":false})");
}

// Counts what containers do with it; its end gives everything back, as a winked-out container needs.
class watched final : public std::pmr::memory_resource {
 public:
  watched() { ++begun; }
  ~watched() override { ++ended; }

  static inline int begun = 0;
  static inline int ended = 0;
  static inline std::int64_t allocated = 0;
  static inline std::int64_t deallocated = 0;

 private:
  void* do_allocate(std::size_t size, std::size_t align) override {
    ++allocated;
    return blocks_.allocate(size, align);
  }
  void do_deallocate(void* p, std::size_t size, std::size_t align) override {
    ++deallocated;
    blocks_.deallocate(p, size, align);
  }
  [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  std::pmr::monotonic_buffer_resource blocks_;
};

page measured(destruction end, const density_setting& asked) {
  watched::begun = watched::ended = 0;
  watched::allocated = watched::deallocated = 0;
  maker_of<watched> maker;
  pmr_binding binding{&maker};
  setting whole;
  whole.density = asked;
  page p(whole);
  measure_density(binding, end, p);
  return p;
}

TEST(MeasureDensity, EveryStructureHasAHeapOfItsOwn) {
  const page p = measured(destruction::normal, {2, 4, 6, true});
  EXPECT_EQ(p.state, harness::work_state::done);
  EXPECT_EQ(watched::begun, 1 + 4) << "the first, cold; then as many as 2^6 leaves take";
  EXPECT_EQ(watched::ended, 1 + 4);
  EXPECT_EQ(watched::allocated, 5 * (1 + 16));
  EXPECT_EQ(watched::deallocated, watched::allocated);
  EXPECT_GT(p.found[0].cold_ns, 0);
  EXPECT_GT(p.found[0].warm_ns, 0);
}

TEST(MeasureDensity, AWinkedOutStructureGivesNoBlockBack) {
  measured(destruction::winkout, {2, 4, 6, true});
  EXPECT_EQ(watched::allocated, 5 * (1 + 1 + 16)) << "it stands in its heap as well";
  EXPECT_EQ(watched::deallocated, 0);
  EXPECT_EQ(watched::ended, 1 + 4);
}

TEST(MeasureDensity, AStructureOfMoreLeavesThanAskedForIsMadeOnceWarm) {
  measured(destruction::normal, {1, 8, 4, true});
  EXPECT_EQ(watched::begun, 1 + 1);
}

}  // namespace

}  // namespace mallard::bench
