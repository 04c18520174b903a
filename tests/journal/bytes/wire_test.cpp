#include "journal/bytes/wire.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace mallard::journal {
namespace {

std::vector<std::uint64_t> telling_numbers() {
  std::vector<std::uint64_t> numbers = {0, UINT64_MAX};
  for (unsigned bit = 0; bit < 64; ++bit) {
    const std::uint64_t power = std::uint64_t{1} << bit;
    numbers.insert(numbers.end(), {power - 1, power, power + 1});
  }
  return numbers;
}

TEST(wire, a_varint_is_read_as_it_was_written_wherever_it_stands) {
  for (const std::uint64_t number : telling_numbers()) {
    for (const std::size_t behind : {0U, 1U, 7U, 20U}) {
      std::array<unsigned char, max_varint_size + 20> memory{};
      const auto size = static_cast<std::size_t>(put_varint(memory.data(), number) - memory.data());
      EXPECT_EQ(size, varint_size(number));
      byte_reader from({memory.data(), size + behind});
      EXPECT_EQ(from.varint(), number);
      EXPECT_EQ(from.left(), behind);
    }
  }
}

TEST(wire, a_varint_that_does_not_end_is_malformed) {
  for (std::size_t size = 0; size <= 12; ++size) {
    const byte_vector memory(size, 0x80);
    byte_reader from(memory);
    EXPECT_THROW((void)from.varint(), malformed) << size;
  }
}

TEST(wire, a_varint_of_more_than_64_bits_is_malformed) {
  byte_vector memory(9, 0xff);
  memory.push_back(0x02);
  byte_reader from(memory);
  EXPECT_THROW((void)from.varint(), malformed);
}

TEST(wire, zigzag_makes_small_differences_small) {
  EXPECT_EQ(zigzag(0), 0U);
  EXPECT_EQ(zigzag(UINT64_MAX), 1U);
  EXPECT_EQ(zigzag(1), 2U);
  for (const std::uint64_t number : telling_numbers()) EXPECT_EQ(unzigzag(zigzag(number)), number);
}

TEST(wire, taking_more_than_there_is_is_malformed) {
  const byte_vector memory(4);
  byte_reader from(memory);
  EXPECT_THROW((void)from.number<std::uint64_t>(), malformed);
  EXPECT_EQ(from.number<std::uint32_t>(), 0U);
  EXPECT_THROW((void)from.take(1), malformed);
}

}  // namespace
}  // namespace mallard::journal
