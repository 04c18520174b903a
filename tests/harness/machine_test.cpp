#include "harness/machine.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace mallard::harness {
namespace {

TEST(Machine, NothingATableNeedsIsMissing) {
  const machine_facts facts = this_machine();
  EXPECT_FALSE(facts.cpu.empty());
  EXPECT_GT(facts.cores, 0u);
  EXPECT_GT(facts.memory, 0u);
  EXPECT_TRUE(facts.kernel.starts_with("Linux "));
  EXPECT_FALSE(facts.transparent_huge_pages.empty());
  EXPECT_TRUE(facts.c_library.starts_with("glibc 2."));
  EXPECT_TRUE(facts.compiler.starts_with("gcc ") || facts.compiler.starts_with("clang "));
  EXPECT_NE(facts.flags.find("-O"), std::string::npos);
}

TEST(Machine, HasEveryFactInJson) {
  const machine_facts facts{"a processor", 2, 1024, "Linux", "madvise", "glibc", "gcc", "-O2"};
  EXPECT_EQ(to_json(facts).dump(),
            R"({"cpu":"a processor","cores":2,"memory":1024,"kernel":"Linux",)"
            R"("transparent_huge_pages":"madvise","c_library":"glibc","compiler":"gcc","flags":"-O2"})");
}

}  // namespace
}  // namespace mallard::harness
