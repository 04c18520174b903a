// Payloads built byte by byte, as FORMAT.md describes them, not by the encoder. The encoder finds the narrow
// form of a column by itself, and the decoder gives the values back.
#include "journal/binary/table_decoder.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "journal/binary/table_encoder.hpp"

namespace mallard::journal {
namespace {

byte_vector payload_of(const std::vector<std::pair<column_header, byte_vector>>& columns) {
  byte_vector payload(4 + columns.size() * column_header_size);
  store(payload.data(), static_cast<std::uint32_t>(columns.size()));
  for (std::size_t i = 0; i < columns.size(); ++i) {
    column_header header = columns[i].first;
    header.stored_size = static_cast<std::uint32_t>(columns[i].second.size());
    if (header.raw_size == 0) header.raw_size = header.stored_size;
    store_column_header(payload.data() + 4 + i * column_header_size, header);
  }
  for (const auto& [header, data] : columns) payload.insert(payload.end(), data.begin(), data.end());
  return payload;
}

using numbers = std::vector<std::uint64_t>;

numbers decode(const column_header& header, const byte_vector& data, std::size_t rows,
               std::vector<event_kind> kinds = {}) {
  const byte_vector payload = payload_of({{header, data}});
  table_decoder decoder;
  decoder.open(payload, rows);
  decoder.set_kinds(kinds);
  numbers out(rows, 99);
  decoder.numbers(decoder.columns()[0], std::span<std::uint64_t>(out), out);
  return out;
}

const std::vector<event_kind> four_kinds = {event_kind::malloc, event_kind::free, event_kind::calloc,
                                            event_kind::free};
constexpr std::uint64_t malloc_and_calloc = 0b110;

TEST(table_decoder, every_encoding_in_every_row) {
  EXPECT_EQ(decode({.encoding = encoding::constant}, {0xac, 0x02}, 3), (numbers{300, 300, 300}));
  EXPECT_EQ(decode({.encoding = encoding::bytes}, {1, 0, 255}, 3), (numbers{1, 0, 255}));
  EXPECT_EQ(decode({.encoding = encoding::varint}, {5, 0xac, 0x02, 7}, 3), (numbers{5, 300, 7}));
  EXPECT_EQ(decode({.encoding = encoding::delta}, {10, 1, 4}, 3), (numbers{5, 4, 6}));
  EXPECT_EQ(decode({.encoding = encoding::raw}, {1, 0, 0, 0, 0, 0, 0, 0x80}, 1),
            (numbers{0x8000'0000'0000'0001}));
  // new, new, the one two rows before, the one before that
  EXPECT_EQ(decode({.encoding = encoding::back_reference}, {0, 0, 2, 1, 20, 3}, 4), (numbers{10, 8, 10, 10}));
}

TEST(table_decoder, every_encoding_in_the_rows_of_some_kinds) {
  const auto by_kind = [](encoding how) {
    return column_header{.encoding = how, .presence = presence::kinds, .where = malloc_and_calloc};
  };
  EXPECT_EQ(decode(by_kind(encoding::constant), {7}, 4, four_kinds), (numbers{7, 0, 7, 0}));
  EXPECT_EQ(decode(by_kind(encoding::bytes), {3, 4}, 4, four_kinds), (numbers{3, 0, 4, 0}));
  EXPECT_EQ(decode(by_kind(encoding::varint), {3, 4}, 4, four_kinds), (numbers{3, 0, 4, 0}));
  EXPECT_EQ(decode(by_kind(encoding::delta), {6, 4}, 4, four_kinds), (numbers{3, 0, 5, 0}));
  EXPECT_EQ(decode(by_kind(encoding::back_reference), {0, 2, 6}, 4, four_kinds), (numbers{3, 0, 3, 0}));
}

TEST(table_decoder, every_encoding_in_few_rows) {
  const auto sparse = [](encoding how) {
    return column_header{.encoding = how, .presence = presence::sparse, .where = 2};
  };
  // gaps 1 and 0: rows 1 and 2
  EXPECT_EQ(decode(sparse(encoding::constant), {1, 0, 7}, 4), (numbers{0, 7, 7, 0}));
  EXPECT_EQ(decode(sparse(encoding::bytes), {1, 0, 7, 8}, 4), (numbers{0, 7, 8, 0}));
  EXPECT_EQ(decode(sparse(encoding::varint), {1, 1, 7, 8}, 4), (numbers{0, 7, 0, 8}));
  EXPECT_EQ(decode(sparse(encoding::delta), {0, 2, 8, 1}, 4), (numbers{4, 0, 0, 3}));
  EXPECT_EQ(decode(sparse(encoding::back_reference), {0, 2, 0, 3, 8}, 4), (numbers{4, 0, 0, 4}));
}

TEST(table_decoder, a_back_reference_goes_into_another_column) {
  const byte_vector payload = payload_of({{{.id = 5, .encoding = encoding::varint}, {50, 60, 70}},
                                          {{.id = 8,
                                            .encoding = encoding::back_reference,
                                            .presence = presence::sparse,
                                            .reference = 5,
                                            .where = 1},
                                           {2, 1}}});
  table_decoder decoder;
  decoder.open(payload, 3);
  numbers first(3);
  numbers second(3);
  decoder.numbers(decoder.columns()[0], std::span<std::uint64_t>(first));
  decoder.numbers(decoder.columns()[1], std::span<std::uint64_t>(second), first);
  EXPECT_EQ(second, (numbers{0, 0, 60}));
}

TEST(table_decoder, texts) {
  const byte_vector payload = payload_of({{{.encoding = encoding::texts}, {2, 0, 1, 'a', 'b', 'c'}}});
  table_decoder decoder;
  decoder.open(payload, 3);
  std::vector<std::string> out;
  decoder.texts(decoder.columns()[0], out);
  EXPECT_EQ(out, (std::vector<std::string>{"ab", "", "c"}));
}

TEST(table_decoder, what_does_not_fit_is_malformed) {
  const auto refuses = [](const column_header& header, const byte_vector& data, std::size_t rows) {
    EXPECT_THROW(decode(header, data, rows, four_kinds), malformed);
  };
  refuses({.encoding = encoding::varint}, {1, 2}, 3);        // too short
  refuses({.encoding = encoding::varint}, {1, 2, 3, 4}, 3);  // too long
  refuses({.encoding = encoding::bytes}, {1, 2}, 3);
  refuses({.encoding = encoding::raw}, {1, 2, 3}, 1);
  refuses({.encoding = encoding::back_reference}, {1, 0, 2}, 2);  // looks back before the first row
  refuses({.encoding = encoding::texts}, {1, 'a'}, 1);            // no numbers
  refuses({.encoding = static_cast<encoding>(77)}, {1}, 1);
  refuses({.encoding = encoding::constant, .compression = static_cast<compression>(9)}, {1}, 1);
  refuses({.encoding = encoding::constant, .presence = static_cast<presence>(9)}, {1}, 1);
  refuses({.encoding = encoding::constant, .presence = presence::kinds, .where = 2}, {1},
          3);  // other rows than kinds
  refuses({.encoding = encoding::constant, .presence = presence::sparse, .where = 4}, {1},
          3);  // more than rows
  refuses({.encoding = encoding::constant, .presence = presence::sparse, .where = 1}, {3, 1},
          3);  // behind the last row
  refuses({.encoding = encoding::constant, .compression = compression::zstd}, {1, 2, 3}, 1);
  refuses({.encoding = encoding::constant, .raw_size = 5}, {1}, 1);
  refuses({.encoding = encoding::constant, .compression = compression::zstd, .raw_size = 0xffff'ffff}, {1},
          1);
}

TEST(table_decoder, a_number_too_large_for_its_field_is_malformed) {
  const byte_vector payload = payload_of({{{.encoding = encoding::varint}, {0xff, 0xff, 0xff, 0xff, 0x1f}}});
  table_decoder decoder;
  decoder.open(payload, 1);
  std::vector<std::uint32_t> narrow(1);
  EXPECT_THROW(decoder.numbers(decoder.columns()[0], std::span<std::uint32_t>(narrow)), malformed);
  std::vector<event_kind> kinds(1);
  EXPECT_THROW(decoder.numbers(decoder.columns()[0], std::span<event_kind>(kinds)), malformed);
}

TEST(table_decoder, a_payload_whose_columns_do_not_fill_it_is_malformed) {
  const byte_vector whole = payload_of({{{.encoding = encoding::bytes}, {1, 2, 3}}});
  table_decoder decoder;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW(decoder.open(byte_span(whole).first(size), 3), malformed) << size;
  }
  byte_vector longer = whole;
  longer.push_back(0);
  EXPECT_THROW(decoder.open(longer, 3), malformed);
  EXPECT_THROW(decoder.open(whole, max_section_rows + 1), malformed);
  EXPECT_NO_THROW(decoder.open(whole, 3));
}

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
