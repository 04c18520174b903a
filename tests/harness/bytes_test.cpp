#include "harness/bytes.hpp"

#include <gtest/gtest.h>

namespace mallard::harness {
namespace {

TEST(Bytes, NumbersWithAndWithoutUnitsAreUnderstood) {
  EXPECT_EQ(parse_bytes("0"), 0u);
  EXPECT_EQ(parse_bytes("4096"), 4096u);
  EXPECT_EQ(parse_bytes("512M"), 512u << 20);
  EXPECT_EQ(parse_bytes("4G"), std::uint64_t{4} << 30);
  EXPECT_EQ(parse_bytes("3kB"), 3u << 10);
  EXPECT_EQ(parse_bytes("1TiB"), std::uint64_t{1} << 40);
}

TEST(Bytes, AnythingElseIsRefused) {
  for (const char* text : {"", "M", "-1", "1.5G", "12Q", "1MM", "1 M", "0x10", "17179869184G"})
    EXPECT_EQ(parse_bytes(text), std::nullopt) << text;
}

TEST(Bytes, AreWrittenWithThreeDigits) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(831), "831 B");
  EXPECT_EQ(format_bytes(1000), "0.98 KiB");
  EXPECT_EQ(format_bytes(10 * 1024), "10.0 KiB");
  EXPECT_EQ(format_bytes(4'550'000), "4.34 MiB");
  EXPECT_EQ(format_bytes(std::uint64_t{512} << 20), "512 MiB");
}

}  // namespace
}  // namespace mallard::harness
