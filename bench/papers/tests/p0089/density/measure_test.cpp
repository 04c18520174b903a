#include "p0089/density/measure.hpp"

#include <gtest/gtest.h>

#include <memory_resource>

#include "common/pmr_bindings.hpp"

namespace mallard::bench {
namespace {

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
