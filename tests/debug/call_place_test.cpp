#include "mallard/debug/call_place.hpp"

#include <errno.h>
#include <gtest/gtest.h>

#include <string>

namespace mallard {
namespace {

const void* returns_to_outer = nullptr;
const void* returns_to_test = nullptr;

// Calls that no compiler folds into one; what follows each keeps it from being the last.
[[gnu::noinline]] call_place inner() {
  returns_to_outer = __builtin_return_address(0);
  const call_place here = call_place::from(returns_to_outer);
  asm volatile("" ::: "memory");
  return here;
}

[[gnu::noinline]] call_place outer() {
  returns_to_test = __builtin_return_address(0);
  const call_place here = inner();
  asm volatile("" ::: "memory");
  return here;
}

TEST(CallPlace, BeginsWithTheCallerThatIsNamedAndGoesOnUpwards) {
  const call_place here = outer();
  EXPECT_FALSE(here.empty());
  EXPECT_EQ(here[0], returns_to_outer);
  EXPECT_EQ(here[1], returns_to_test);
  EXPECT_NE(here[2], nullptr);
}

TEST(CallPlace, OfNoCallerIsEverythingThatLedHere) {
  const int elsewhere = 0;
  EXPECT_FALSE(call_place::from(&elsewhere).empty());
}

TEST(CallPlace, IsEmptyUntilTaken) {
  const call_place nowhere;
  EXPECT_TRUE(nowhere.empty());
  EXPECT_EQ(nowhere[0], nullptr);
  EXPECT_EQ(nowhere[call_place::depth], nullptr);
}

[[gnu::noinline]] call_place from_the_depth(int calls) {
  const call_place here =
      calls == 0 ? call_place::from(__builtin_return_address(0)) : from_the_depth(calls - 1);
  asm volatile("" ::: "memory");
  return here;
}

TEST(CallPlace, KeepsTheNearestCallsOfADeepStack) {
  const call_place here = from_the_depth(100);
  EXPECT_NE(here[call_place::depth - 1], nullptr);
  EXPECT_EQ(here[1], here[2]);
}

TEST(CallPlace, PrintsALineAFrameWithTheModule) {
  const call_place here = outer();
  testing::internal::CaptureStderr();
  here.print();
  const std::string printed = testing::internal::GetCapturedStderr();
  EXPECT_EQ(printed.find("      #0 "), 0u);
  EXPECT_NE(printed.find(program_invocation_short_name), std::string::npos) << printed;
  EXPECT_NE(printed.find("\n      #1 "), std::string::npos) << printed;
}

std::string printed(const char* text) {
  testing::internal::CaptureStderr();
  error_line("<%s>", text);
  return testing::internal::GetCapturedStderr();
}

TEST(ErrorLine, IsALine) { EXPECT_EQ(printed("48 bytes"), "<48 bytes>\n"); }

TEST(ErrorLine, IsCutWhereItIsTooLong) {
  for (const std::size_t length : {1020u, 1021u, 1022u, 1023u, 5000u}) {
    const std::string found = printed(std::string(length, 'x').c_str());
    EXPECT_EQ(found.size(), std::min<std::size_t>(length + 3, 1024));
    EXPECT_EQ(found.substr(0, 3), "<xx");
    EXPECT_EQ(found.back(), '\n');
    EXPECT_EQ(found.find('\n'), found.size() - 1);
  }
}

}  // namespace
}  // namespace mallard
