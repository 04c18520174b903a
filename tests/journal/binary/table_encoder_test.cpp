// The encoder finds the narrow form of a column by itself, and the decoder gives the values back.
#include "journal/binary/table_encoder.hpp"

#include <gtest/gtest.h>

#include <random>

#include "journal/binary/table_decoder.hpp"

namespace mallard::journal {
namespace {

using numbers = std::vector<std::uint64_t>;

struct result {
  column_header header;
  numbers values;
};

// Encodes `values` as the only column, and decodes it again.
result through(const numbers& values, encoding how) {
  table_encoder encoder;
  encoder.begin(values.size());
  if (how == encoding::back_reference)
    encoder.back_references(1, values, 1, values);
  else
    encoder.numbers(1, how, values);
  table_decoder decoder;
  decoder.open(encoder.payload(), values.size());
  if (decoder.columns().empty()) return {.header = {}, .values = numbers(values.size())};
  result r{.header = decoder.columns()[0], .values = numbers(values.size(), 99)};
  decoder.numbers(decoder.columns()[0], std::span<std::uint64_t>(r.values), r.values);
  return r;
}

constexpr encoding every_encoding[] = {encoding::varint, encoding::delta, encoding::raw,
                                       encoding::back_reference};

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

// What comes in between is in no chain, and nearer than the chain's own rows.
TEST(table_encoder, back_references_follow_a_chain_that_repeats) {
  numbers values;
  for (std::uint64_t round = 0; round < 50; ++round)
    for (std::uint64_t i = 0; i < 40; ++i) values.push_back(i % 8 == 7 ? 1'000 : 1 + i * 7919);
  const result r = through(values, encoding::back_reference);
  EXPECT_EQ(r.values, values);
  EXPECT_LT(r.header.stored_size, 200U);
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
  const result referring = through(values, encoding::back_reference);
  EXPECT_EQ(referring.values, values);
  EXPECT_LT(referring.header.stored_size * 2, through(values, encoding::delta).header.stored_size);
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
