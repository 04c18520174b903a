// The encoder finds the narrow form of a column by itself, and the decoder gives the values back.
#include "journal/table_encoder.hpp"

#include <gtest/gtest.h>

#include <random>

#include "journal/table_decoder.hpp"

namespace mallard::journal {
namespace {

using numbers = std::vector<std::uint64_t>;

struct result {
  column_header header;
  numbers values;
};

// Encodes `values` as the only column, and decodes it again.
result through(const numbers& values, encoding how, const std::vector<event_kind>& kinds = {}) {
  table_encoder encoder;
  encoder.begin(values.size(), kinds);
  if (how == encoding::recall)
    encoder.recalled(1, values, 1, values);
  else
    encoder.numbers(1, how, std::span<const std::uint64_t>(values));
  table_decoder decoder;
  decoder.open(encoder.payload(), values.size());
  decoder.set_kinds(kinds);
  if (decoder.columns().empty()) return {.header = {}, .values = numbers(values.size())};
  result r{.header = decoder.columns()[0], .values = numbers(values.size(), 99)};
  decoder.numbers(decoder.columns()[0], std::span<std::uint64_t>(r.values), r.values);
  return r;
}

constexpr encoding every_encoding[] = {encoding::varint, encoding::delta, encoding::raw, encoding::recall};

TEST(table_encoder, a_column_of_zeros_is_left_out) {
  for (const encoding how : every_encoding) EXPECT_EQ(through(numbers(50), how).header.raw_size, 0U);
}

TEST(table_encoder, a_column_of_one_value_is_constant) {
  const numbers values(50, 1234);
  const result r = through(values, encoding::varint);
  EXPECT_EQ(r.values, values);
  EXPECT_EQ(r.header.encoding, encoding::constant);
  EXPECT_EQ(r.header.stored_size, 2U);
}

TEST(table_encoder, a_column_with_few_values_is_sparse) {
  numbers values(1000);
  for (std::size_t i = 5; i < values.size(); i += 64) values[i] = i;
  for (const encoding how : every_encoding) {
    const result r = through(values, how);
    EXPECT_EQ(r.values, values);
    EXPECT_EQ(r.header.presence, presence::sparse);
    EXPECT_EQ(r.header.where, 16U);
  }
}

TEST(table_encoder, a_column_that_goes_by_kinds_takes_no_room_in_others) {
  std::vector<event_kind> kinds;
  numbers values;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    kinds.push_back(i % 2 == 0 ? event_kind::malloc : event_kind::free);
    values.push_back(i % 2 == 0 ? i / 10 : 0);  // zeros among the mallocs too
  }
  for (const encoding how : every_encoding) {
    const result r = through(values, how, kinds);
    EXPECT_EQ(r.values, values);
    EXPECT_EQ(r.header.presence, presence::kinds);
    EXPECT_EQ(r.header.where, std::uint64_t{1} << static_cast<int>(event_kind::malloc));
  }
}

TEST(table_encoder, a_kind_above_63_can_have_values) {
  const std::vector<event_kind> kinds = {event_kind::malloc, static_cast<event_kind>(200), event_kind::free};
  const numbers values = {1, 2, 0};
  const result r = through(values, encoding::varint, kinds);
  EXPECT_EQ(r.values, values);
  EXPECT_EQ(r.header.presence, presence::every);
}

TEST(table_encoder, a_kind_above_127_can_have_values_where_few_have) {
  std::vector<event_kind> kinds(100, event_kind::free);
  numbers values(100);
  for (std::size_t i = 0; i < 50; ++i) {
    kinds[i] = i % 2 == 0 ? event_kind::malloc : static_cast<event_kind>(128 + i);
    values[i] = i + 1;
  }
  EXPECT_EQ(through(values, encoding::varint, kinds).values, values);
}

TEST(table_encoder, the_kinds_themselves_have_a_value_in_every_row) {
  std::vector<event_kind> kinds(1000);  // of number 0, but for a few
  kinds[3] = event_kind::free;
  kinds[500] = static_cast<event_kind>(200);
  table_encoder encoder;
  encoder.begin(kinds.size(), kinds);
  encoder.kinds(1);
  table_decoder decoder;
  decoder.open(encoder.payload(), kinds.size());
  ASSERT_EQ(decoder.columns().size(), 1U);
  EXPECT_EQ(decoder.columns()[0].presence, presence::every);
  std::vector<event_kind> decoded(kinds.size());
  decoder.numbers(decoder.columns()[0], std::span<event_kind>(decoded));
  EXPECT_EQ(decoded, kinds);
}

TEST(table_encoder, hard_values_come_back_from_every_encoding) {
  std::mt19937_64 random(3);
  numbers values;
  for (int i = 0; i < 5000; ++i) values.push_back(i % 3 == 0 ? random() : random() % 40);
  values.push_back(UINT64_MAX);
  values.push_back(0);
  for (const encoding how : every_encoding) EXPECT_EQ(through(values, how).values, values);
}

TEST(table_encoder, an_address_that_comes_back_costs_less_than_a_difference) {
  std::mt19937_64 random(3);
  numbers places;
  for (int i = 0; i < 64; ++i) places.push_back(0x5555'0000'0000 + random() % (1U << 30));
  numbers values;
  for (int i = 0; i < 20'000; ++i) values.push_back(places[random() % 64]);
  const result recalled = through(values, encoding::recall);
  EXPECT_EQ(recalled.values, values);
  EXPECT_LT(recalled.header.stored_size * 2, through(values, encoding::delta).header.stored_size);
}

TEST(table_encoder, without_advice_the_shorter_encoding_is_taken) {
  const auto chosen = [](const numbers& values) {
    table_encoder encoder;
    encoder.begin(values.size());
    encoder.numbers(1, values);
    table_decoder decoder;
    decoder.open(encoder.payload(), values.size());
    return decoder.columns()[0].encoding;
  };
  numbers rising;
  numbers small;
  numbers wild;
  std::mt19937_64 random(5);
  for (std::uint64_t i = 0; i < 100; ++i) {
    rising.push_back(1'000'000 + i * 3);
    small.push_back(i * 7919 % 100);
    wild.push_back(random() | std::uint64_t{1} << 63);
  }
  EXPECT_EQ(chosen(rising), encoding::delta);
  EXPECT_EQ(chosen(small), encoding::varint);
  EXPECT_EQ(chosen(wild), encoding::raw);
}

}  // namespace
}  // namespace mallard::journal
