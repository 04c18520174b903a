#include "replay/trace/part_routes.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "replay/trace/events.hpp"

namespace mallard::replay {
namespace {

using testing::events;
using testing::route_file;

// What is said of routes for two allocations and their frees, behind the file's name; empty if they will do.
std::string complaint_about(const std::vector<std::uint32_t>& heaps) {
  const route_file file(heaps);
  try {
    const part_routes routes(file.path());
    trace_builder builder(false, &routes);
    events().malloc(1, 16).malloc(2, 32).free(1).free(2).add_to(builder);
    static_cast<void>(builder.finish());
  } catch (const std::runtime_error& e) {
    EXPECT_TRUE(std::string(e.what()).starts_with(file.path() + " ")) << e.what();
    return std::string(e.what()).substr(file.path().size() + 1);
  }
  return {};
}

std::vector<int> heaps_of(const trace& t) {
  std::vector<int> heaps;
  for (const op& o : t.ops()) heaps.push_back(o.heap());
  return heaps;
}

TEST(PartRoutes, HeapsAreNumberedInTheOrderOfTheirFirstEvents) {
  const route_file file({0, 4'000'000'000, 7, 0, 4'000'000'000});
  const part_routes routes(file.path());
  EXPECT_EQ(routes.heaps(), 2u);
  std::vector<int> found;
  for (std::uint64_t event = 0; event < 5; ++event) found.push_back(routes.heap_of(event, true));
  EXPECT_EQ(found, (std::vector{0, 1, 2, 0, 1}));
}

TEST(PartRoutes, AFileThatIsNotTheJournalsIsRefused) {
  EXPECT_EQ(complaint_about({1, 0, 0, 0}), "");
  EXPECT_EQ(complaint_about({1, 0, 0}), "has 3 numbers, the journal 4 events: one is needed for each");
  EXPECT_EQ(complaint_about({1, 0, 0, 0, 0}), "has 5 numbers, the journal 4 events: one is needed for each");
  EXPECT_EQ(complaint_about({1, 0, 1, 0}), "routes event 2, which allocates nothing");
  EXPECT_EQ(complaint_about({0, 0, 0, 0}), "routes no block: nothing would differ");
  EXPECT_EQ(complaint_about({}), "routes no block: nothing would differ");

  const route_file file({1, 0, 0, 0});
  std::filesystem::resize_file(file.path(), 15);
  EXPECT_THROW(part_routes(file.path()), std::runtime_error) << "the last number is cut";
  EXPECT_THROW(part_routes("/nowhere/routes"), std::runtime_error);
}

std::string complaint_about_file(const std::string& path) {
  try {
    const part_routes routes(path);
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return {};
}

TEST(PartRoutes, WhatMayHaveNoEndIsNotRead) {
  EXPECT_EQ(complaint_about_file("/dev/zero"), "/dev/zero is no regular file");
  EXPECT_EQ(complaint_about_file("/dev"), "/dev is no regular file");
  const route_file file({1, 0, 0, 0});
  std::filesystem::resize_file(file.path(), (std::uintmax_t{4} << 30) + 4);
  EXPECT_EQ(complaint_about_file(file.path()), file.path() + " has more than 1073741824 numbers");
}

TEST(PartRoutes, WhatIsLeftOutIsAsIfItHadNotBeen) {
  const trace t = events()
                      .in_heap(part_routes::out)
                      .malloc(1, 16)
                      .in_heap(5)
                      .malloc(2, 32)
                      .in_heap(part_routes::out)
                      .free_too(1)
                      .in_heap(0)
                      .realloc(3, 4, 48)  // of a block that is left out
                      .free(2)
                      .build_part();
  EXPECT_EQ(t.facts().left_out, 2u);
  EXPECT_EQ(t.facts().events, 5u);
  EXPECT_EQ(t.facts().allocations, 2u) << "a reallocation of what is not there is one";
  EXPECT_EQ(heaps_of(t), (std::vector{1, 0, 1, 0}));
  EXPECT_EQ(t.ops()[0].size, 32u);
  EXPECT_EQ(t.facts().never_freed, 1u);
}

TEST(PartRoutes, OnThreadsEventsAreLeftOutToo) {
  const trace t = events()
                      .malloc(1, 16)
                      .on_thread(1)
                      .in_heap(5)
                      .malloc(2, 40)
                      .on_thread(2)
                      .in_heap(part_routes::out)
                      .malloc(3, 40)
                      .free_too(3)
                      .on_thread(0)
                      .free(2)
                      .free(1)
                      .schedule_part();
  EXPECT_EQ(t.facts().left_out, 2u);
  EXPECT_EQ(t.facts().allocations, 2u);
  EXPECT_EQ(t.facts().threads_replayed, 2u) << "a thread of which nothing is left is not started";
}

TEST(PartRoutes, OneHeapMoreThanANumberHoldsIsRefused) {
  std::vector<std::uint32_t> heaps(65'534);
  std::iota(heaps.begin(), heaps.end(), 1);
  EXPECT_EQ(part_routes(route_file(heaps).path()).heaps(), 65'534u);
  heaps.push_back(65'535);
  EXPECT_EQ(complaint_about(heaps), "routes to more than 65534 heaps");
}

TEST(PartRoutes, AnOpNamesTheHeapThatHasItsBlock) {
  const trace t = events()
                      .malloc(1, 16)
                      .in_heap(8)
                      .malloc(2, 32)
                      .realloc(2, 3, 64)
                      .in_heap(9)
                      .realloc(3, 4, 128)
                      .in_heap(0)
                      .realloc(4, 5, 256)
                      .free(1)
                      .free(5)
                      .build_part();
  EXPECT_EQ(heaps_of(t), (std::vector{0, 1, 1, 1, 2, 1, 0, 2, 0, 0})) << "after a reallocation the old heap";
}

TEST(PartRoutes, ABlockThatIsNeverFreedEndsInItsHeap) {
  EXPECT_EQ(heaps_of(events().in_heap(3).malloc(1, 16).in_heap(0).malloc(2, 16).build_part()),
            (std::vector{1, 0, 1, 0}));
}

TEST(PartRoutes, ATraceSaysWhatIsAskedOfEachHeap) {
  const trace t = events()
                      .malloc(1, 1000)
                      .in_heap(5)
                      .malloc(2, 40)
                      .memalign(3, 24, 64)
                      .in_heap(6)
                      .realloc(2, 4, 48)
                      .free(1)
                      .free(3)
                      .free(4)
                      .build_part();
  EXPECT_EQ(t.facts().part.heaps, 2u);
  EXPECT_EQ(t.facts().part.blocks, 3u);
  EXPECT_EQ(t.facts().part.events, 5u);
  ASSERT_EQ(t.heaps().size(), 2u);
  EXPECT_EQ(t.heaps()[0].largest, 40u);
  EXPECT_EQ(t.heaps()[0].align, 64u);
  EXPECT_EQ(t.heaps()[1].largest, 48u);
  EXPECT_EQ(t.heaps()[1].align, 16u);
}

TEST(PartRoutes, OnThreadsAStepNamesTheHeapToo) {
  const trace t = events()
                      .malloc(1, 16)
                      .in_heap(5)
                      .on_thread(1)
                      .malloc(2, 40)
                      .on_thread(0)
                      .free(2)
                      .free(1)
                      .schedule_part();
  ASSERT_EQ(t.facts().threads_replayed, 2u);
  std::vector<std::vector<int>> heaps;
  for (const thread_part& part : t.threads()) {
    heaps.emplace_back();
    for (const thread_step& s : t.steps().subspan(part.first_step, part.steps))
      heaps.back().push_back(s.what.heap());
  }
  EXPECT_EQ(heaps, (std::vector<std::vector<int>>{{0, 1, 0}, {1}}));
  ASSERT_EQ(t.heaps().size(), 1u);
  EXPECT_EQ(t.heaps()[0].largest, 40u);
}

}  // namespace
}  // namespace mallard::replay
