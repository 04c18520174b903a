#include "mallard/debug/error_line.hpp"

#include <gtest/gtest.h>

#include <string>

namespace mallard {
namespace {

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
