// The numbers of a column are read back one by one, whatever their lengths.
#include "journal/binary/varint_column.hpp"

#include <gtest/gtest.h>

namespace mallard::journal {
namespace {

// Around each power of two, where the length changes.
std::vector<std::uint64_t> edges() {
  std::vector<std::uint64_t> values = {0};
  for (unsigned bit = 0; bit < 64; ++bit)
    for (const std::uint64_t around : {0U, 1U, 2U}) values.push_back((std::uint64_t{1} << bit) - 1 + around);
  values.push_back(UINT64_MAX);
  return values;
}

std::vector<std::uint64_t> read(byte_span bytes) {
  std::vector<std::uint64_t> values;
  for (byte_reader from(bytes); from.left() > 0;) values.push_back(from.varint());
  return values;
}

TEST(varint_column, every_length_round_trips) {
  const std::vector<std::uint64_t> values = edges();
  varint_column column(values.size());
  std::size_t expected = 0;
  for (const std::uint64_t value : values) {
    column.put(value);
    expected += varint_size(value);
  }
  EXPECT_EQ(read(column.bytes()), values);
  EXPECT_EQ(column.bytes().size(), expected) << "as short as can be";
  column.clear();
  EXPECT_TRUE(column.bytes().empty());
}

TEST(varint_column, what_is_expected_to_be_short_may_be_long) {
  const std::vector<std::uint64_t> values = {0, 127, 128, 300, 1 << 14, UINT64_MAX, 5};
  varint_column column(values.size());
  for (const std::uint64_t value : values) column.put_short(value);
  EXPECT_EQ(read(column.bytes()), values);
}

TEST(varint_column, another_column_can_follow) {
  varint_column column(4);
  varint_column other(2);
  column.put(1);
  other.put(1000);
  other.put(2);
  column.put_all(other);
  column.put(3);
  EXPECT_EQ(read(column.bytes()), (std::vector<std::uint64_t>{1, 1000, 2, 3}));
}

}  // namespace
}  // namespace mallard::journal
