#include "mallard/debug/misuse.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace mallard {
namespace {

class Misuse : public testing::Test {
 protected:
  Misuse() {
    block_.data = bytes_ + 16;
    block_.size = 20;
    block_.align = 8;
    block_.begin = bytes_;
    block_.whole = sizeof bytes_;
    block_.number = 17;
    block_.allocated = call_place::from(nullptr);
  }

  std::string printed(misuse what, const void* pointer, const known_block* block,
                      const char* when = nullptr) {
    testing::internal::CaptureStderr();
    print({what, "orders", pointer, 24, 4, block, {}, when});
    return testing::internal::GetCapturedStderr();
  }

  static bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }

  std::byte bytes_[64];
  known_block block_;
};

TEST_F(Misuse, NamesHeapEventAndBlock) {
  const std::string text = printed(misuse::double_free, block_.data, &block_);
  EXPECT_EQ(text.find("mallard: orders: double free: 20 bytes aligned to 8 at 0x"), 0u) << text;
  EXPECT_TRUE(has(text, ", block number 17\n")) << text;
  EXPECT_TRUE(has(text, "\n    allocated:\n      #0 ")) << text;
  EXPECT_FALSE(has(text, "freed before")) << text;
  EXPECT_FALSE(has(text, "now")) << text;
}

TEST_F(Misuse, NamesThePlaceOfTheFormerFree) {
  block_.live = false;
  block_.freed = call_place::from(nullptr);
  EXPECT_TRUE(has(printed(misuse::double_free, block_.data, &block_), "\n    freed before:\n      #0 "));
}

TEST_F(Misuse, SaysWhatAForeignPointerWasGivenBackAs) {
  const std::string text = printed(misuse::foreign_pointer, &block_, nullptr);
  EXPECT_EQ(text.find("mallard: orders: deallocate of a foreign pointer: 0x"), 0u) << text;
  EXPECT_TRUE(has(text, " (24 bytes aligned to 4)\n")) << text;
}

TEST_F(Misuse, SaysHowABlockWasGivenBack) {
  EXPECT_TRUE(
      has(printed(misuse::wrong_size, block_.data, &block_), "\n    given back as 24 bytes aligned to 4\n"));
  EXPECT_TRUE(has(printed(misuse::wrong_align, block_.data, &block_), "given back as"));
  EXPECT_FALSE(has(printed(misuse::leaked, block_.data, &block_), "given back as"));
}

TEST_F(Misuse, MeasuresTheDistanceFromTheBlock) {
  EXPECT_TRUE(has(printed(misuse::written_before, block_.data - 3, &block_), " is 3 bytes in front of it\n"));
  EXPECT_TRUE(has(printed(misuse::foreign_pointer, block_.data + 19, &block_), " is at its byte 19\n"));
  EXPECT_TRUE(
      has(printed(misuse::written_behind, block_.data + 22, &block_), " is 2 bytes behind its end\n"));
}

TEST_F(Misuse, SaysWhatWentBefore) {
  EXPECT_TRUE(has(printed(misuse::leaked, block_.data, &block_, "after request 3 failed"),
                  "\n    after request 3 failed\n"));
}

TEST_F(Misuse, HasANameForEachKind) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < misuses; ++i) names.insert(what_happened(static_cast<misuse>(i)));
  EXPECT_EQ(names.size(), misuses);
  EXPECT_FALSE(names.contains("misuse"));
}

}  // namespace
}  // namespace mallard
