#include "harness/machine_json.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace mallard::harness {
namespace {

TEST(MachineJson, HasEveryFact) {
  const machine_facts facts{"a processor", 2, 1024, "Linux", "madvise", "glibc", "gcc", "-O2"};
  EXPECT_EQ(to_json(facts).dump(),
            R"({"cpu":"a processor","cores":2,"memory":1024,"kernel":"Linux",)"
            R"("transparent_huge_pages":"madvise","c_library":"glibc","compiler":"gcc","flags":"-O2"})");
}

}  // namespace
}  // namespace mallard::harness
