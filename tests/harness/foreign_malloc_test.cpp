#include "harness/foreign_malloc.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace mallard::harness {
namespace {

TEST(ForeignMalloc, AllAreKnownByTheirNames) {
  for (const char* name : {"glibc", "glibc-notrim", "jemalloc", "tcmalloc", "mimalloc", "tbbmalloc",
                           "mallard", "mallard-checked"})
    EXPECT_NE(find_foreign_malloc(name), nullptr) << name;
  EXPECT_EQ(find_foreign_malloc("hoard"), nullptr);
}

TEST(ForeignMalloc, PreloadAndTunablesReachTheEnvironment) {
  EXPECT_TRUE(environment_for(*find_foreign_malloc("glibc")).empty());
  EXPECT_EQ(environment_for(*find_foreign_malloc("jemalloc")),
            std::vector<std::string>{"LD_PRELOAD=libjemalloc.so.2"});
  const auto notrim = environment_for(*find_foreign_malloc("glibc-notrim"));
  ASSERT_EQ(notrim.size(), 1u);
  EXPECT_TRUE(notrim[0].starts_with("GLIBC_TUNABLES=glibc.malloc.trim_threshold="));
}

TEST(ForeignMalloc, WhatOnlyWholeProgramsRunUnderIsNoStrategy) {
  for (const foreign_malloc& further : further_mallocs()) {
    EXPECT_EQ(find_foreign_malloc(further.name), nullptr) << further.name;
    EXPECT_NE(further.object.empty(), further.tunables.empty()) << further.name;
  }
  EXPECT_EQ(further_mallocs().front().name, "glibc-arenas");
}

TEST(ForeignMalloc, MallardsOwnIsFoundWhereItWasBuiltOrAsTheEnvironmentSays) {
  const auto built = environment_for(*find_foreign_malloc("mallard"));
  ASSERT_EQ(built.size(), 1u);
  EXPECT_TRUE(built[0].starts_with("LD_PRELOAD=") && built[0].ends_with("libmallard-malloc.so"));
  ::setenv("MALLARD_MALLOC_LIBRARY", "/elsewhere/libmallard-malloc.so", 1);
  EXPECT_EQ(environment_for(*find_foreign_malloc("mallard")),
            std::vector<std::string>{"LD_PRELOAD=/elsewhere/libmallard-malloc.so"});
  const auto checked = environment_for(*find_foreign_malloc("mallard-checked"));
  ASSERT_EQ(checked.size(), 1u);
  EXPECT_TRUE(checked[0].starts_with("LD_PRELOAD=/") && checked[0].ends_with("libmallard-malloc-checked.so"));
  ::unsetenv("MALLARD_MALLOC_LIBRARY");
}

// This process has not preloaded any: measuring one here would measure another malloc.
TEST(ForeignMalloc, ASanitizersMallocIsKnown) {
  EXPECT_EQ(malloc_is_a_sanitizers(), malloc_in_force() != "libc.so.6");
}

TEST(ForeignMalloc, AMallocThatIsNotInForceIsAnErrorThatNamesItsPackage) {
  EXPECT_FALSE(malloc_in_force().empty());
  EXPECT_EQ(malloc_error(*find_foreign_malloc("mimalloc")),
            "libmimalloc.so.2.0 is not loaded: apt install libmimalloc2.0");
  EXPECT_EQ(malloc_error(*find_foreign_malloc("glibc")).empty(), malloc_in_force() == "libc.so.6");
}

}  // namespace
}  // namespace mallard::harness
