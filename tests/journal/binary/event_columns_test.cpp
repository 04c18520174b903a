// A chunk of events comes back as it went in, and each column in the narrowest form that it has; the numbers
// of a column one by one, whatever their lengths. A distance between rows leads back to the same address, in
// this chunk.
#include "journal/binary/event_columns.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <random>

#include "journal/binary/last_rows.hpp"
#include "journal/binary/sample_journal.hpp"
#include "journal/binary/varint_column.hpp"

namespace mallard::journal {
namespace {

struct chunk {
  std::vector<event> events;
  std::vector<column_header> columns;

  [[nodiscard]] std::optional<column_header> column(event_column id) const {
    for (const column_header& header : columns)
      if (header.id == static_cast<std::uint16_t>(id)) return header;
    return {};
  }
};

// What the encoder has so far, decoded.
chunk take(event_encoder& encoder) {
  table_decoder decoder;
  event_batch batch;
  const std::size_t rows = encoder.rows();
  decoder.open(encoder.payload(), rows);
  decode_events(decoder, rows, batch);
  chunk taken;
  for (std::size_t row = 0; row < rows; ++row) taken.events.push_back(event_at(batch, row));
  taken.columns.assign(decoder.columns().begin(), decoder.columns().end());
  encoder.clear();
  return taken;
}

// The events through as many chunks as they take, each of at most `most` rows.
std::vector<chunk> through(const std::vector<event>& events, std::size_t most = event_encoder::max_rows) {
  event_encoder encoder;
  std::vector<chunk> chunks;
  for (const event& e : events) {
    if (encoder.rows() < most && encoder.append(e)) continue;
    chunks.push_back(take(encoder));
    EXPECT_TRUE(encoder.append(e)) << "an empty chunk takes any event";
  }
  chunks.push_back(take(encoder));
  return chunks;
}

std::vector<event> events_of(const std::vector<chunk>& chunks) {
  std::vector<event> events;
  for (const chunk& c : chunks) events.insert(events.end(), c.events.begin(), c.events.end());
  return events;
}

constexpr std::uint64_t mask_of(event_kind kind) { return std::uint64_t{1} << static_cast<unsigned>(kind); }

TEST(event_encoder, every_kind_and_every_field_round_trips) {
  EXPECT_EQ(events_of(through(sample_events())), sample_events());
  EXPECT_EQ(events_of(through(sample_events(), 1)), sample_events());
}

// Any field of any event is 0, small or anything, with the frequencies of this journal.
TEST(event_encoder, random_journals_round_trip) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937_64 random(seed);
    const std::uint64_t kinds = seed % 3 == 0 ? 256 : 1 + random() % 50;
    std::array<std::uint64_t, 8> one_in{};
    for (std::uint64_t& rarity : one_in) rarity = 1 + random() % (random() % 2 == 0 ? 4 : 200);
    const auto maybe = [&](std::size_t field, std::uint64_t few) -> std::uint64_t {
      if (random() % one_in[field] != 0) return 0;
      return random() % 3 == 0 ? random() >> (random() % 64) : random() % few * 16;
    };
    std::vector<event> events;
    for (std::uint64_t i = 0; i < 5000; ++i) {
      events.push_back({.kind = static_cast<event_kind>(random() % kinds),
                        .thread = seed % 2 == 0 ? seed : static_cast<std::uint32_t>(maybe(0, 4)),
                        .context = static_cast<std::uint32_t>(maybe(1, 1000)),
                        .time = i * 90 + random() % 100,
                        .address = maybe(2, 500),
                        .size = maybe(3, 50),
                        .alignment = maybe(4, 8),
                        .old_address = maybe(5, 500),
                        .region = maybe(6, 20),
                        .parent = maybe(6, 20),
                        .duration = maybe(7, 100)});
    }
    ASSERT_EQ(events_of(through(events, 1 + random() % 5000)), events) << seed;
  }
}

TEST(event_encoder, full_chunks_of_a_long_journal_round_trip) {
  std::mt19937_64 random(11);
  std::vector<event> events;
  for (std::uint64_t i = 0; i < 20 * event_encoder::max_rows + 5; ++i) {
    const bool frees = i % 3 == 2;
    events.push_back({.kind = frees ? event_kind::free : event_kind::malloc,
                      .time = i * 40,
                      .address = 0x5555'0000'0000 + random() % 100'000 * 16,
                      .size = frees ? 0 : random() % 500});
  }
  const std::vector<chunk> chunks = through(events);
  EXPECT_EQ(chunks.size(), 21U);
  EXPECT_EQ(events_of(chunks), events);
}

TEST(event_encoder, a_column_that_no_event_has_is_left_out) {
  const chunk c =
      through({{.kind = event_kind::free, .address = 32}, {.kind = event_kind::free, .address = 16}})[0];
  EXPECT_EQ(c.columns.size(), 3U);
  EXPECT_TRUE(c.column(event_column::address));
}

TEST(event_encoder, a_size_takes_no_room_in_kinds_that_have_none) {
  std::vector<event> events;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    events.push_back({.kind = event_kind::malloc, .address = i * 16, .size = i % 3});
    events.push_back({.kind = event_kind::free, .address = i * 16});
  }
  const chunk c = through(events)[0];
  EXPECT_EQ(c.events, events);
  EXPECT_EQ(c.column(event_column::size)->presence, presence::kinds);
  EXPECT_EQ(c.column(event_column::size)->where & mask_of(event_kind::free), 0U);
  EXPECT_EQ(c.column(event_column::size)->raw_size, 1000U);
}

TEST(event_encoder, a_kind_that_gets_a_context_late_ends_one_chunk) {
  std::vector<event> events(100, {.kind = event_kind::free, .address = 16});
  for (std::size_t i = 50; i < 100; ++i) events[i].context = 9;
  const std::vector<chunk> chunks = through(events);
  ASSERT_EQ(chunks.size(), 2U);
  EXPECT_EQ(chunks[0].events.size(), 50U);
  EXPECT_EQ(events_of(chunks), events);
}

TEST(event_encoder, kinds_that_no_mask_can_name_have_values) {
  std::vector<event> events;
  for (unsigned kind = 0; kind < 256; ++kind)
    events.push_back(
        {.kind = static_cast<event_kind>(kind), .context = 1 + kind, .address = 8, .size = kind});
  EXPECT_EQ(events_of(through(events)), events);
}

TEST(event_encoder, a_context_near_the_one_before_takes_a_byte) {
  std::vector<event> events;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    events.push_back({.kind = event_kind::malloc, .context = 3'000'000 + i % 7 * 9, .address = 16});
    events.push_back({.kind = event_kind::free, .address = 16});  // of unknown context, far from the others
  }
  const chunk c = through(events)[0];
  EXPECT_EQ(c.events, events);
  EXPECT_LT(c.column(event_column::context)->raw_size, 1000U + 8);
}

TEST(event_encoder, one_thread_is_written_once) {
  std::vector<event> events(1000, {.kind = event_kind::malloc, .thread = 3});
  chunk c = through(events)[0];
  EXPECT_EQ(c.column(event_column::thread)->encoding, encoding::constant);
  EXPECT_EQ(c.events, events);
  events[700].thread = 0;
  c = through(events)[0];
  EXPECT_EQ(c.column(event_column::thread)->encoding, encoding::varint);
  EXPECT_EQ(c.events, events);
}

TEST(event_encoder, what_few_events_have_is_listed_by_rows) {
  std::vector<event> events(1000, {.kind = event_kind::malloc, .address = 16});
  for (std::size_t i = 5; i < events.size(); i += 64) events[i].duration = i;
  const chunk c = through(events)[0];
  EXPECT_EQ(c.events, events);
  EXPECT_EQ(c.column(event_column::duration)->presence, presence::sparse);
  EXPECT_EQ(c.column(event_column::duration)->where, 16U);
}

TEST(event_encoder, what_all_events_of_a_kind_have_is_not_listed) {
  std::vector<event> events;
  for (std::uint64_t i = 0; i < 300; ++i) {
    events.push_back({.kind = event_kind::malloc, .address = 16 + i * 16, .size = 1});
    events.push_back(
        {.kind = event_kind::realloc, .address = 1 << 20, .size = 2, .old_address = 16 + i * 16});
  }
  const chunk c = through(events)[0];
  EXPECT_EQ(c.events, events);
  EXPECT_EQ(c.column(event_column::old_address)->presence, presence::kinds);
  EXPECT_EQ(c.column(event_column::old_address)->where, mask_of(event_kind::realloc));
}

TEST(event_encoder, an_address_that_comes_back_costs_less_than_a_new_one) {
  std::mt19937_64 random(3);
  const auto bytes_with = [&](std::uint64_t few, std::uint64_t step) {
    std::vector<event> events;
    for (int i = 0; i < 20'000; ++i)
      events.push_back({.kind = event_kind::free, .address = 0x5555'0000'0000 + random() % few * step});
    const chunk c = through(events)[0];
    EXPECT_EQ(c.events, events);
    return c.column(event_column::address)->stored_size;
  };
  const std::uint32_t new_ones = bytes_with(1U << 30, 16);
  for (const std::uint64_t step : {16U, 8U, 1U, 4096U}) EXPECT_LT(bytes_with(64, step) * 3, new_ones) << step;
  EXPECT_LT(bytes_with(64, std::uint64_t{1} << 58) * 3, new_ones) << "beyond 2^48";
}

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

constexpr std::size_t rows = 1000;

TEST(last_rows, agrees_with_a_map) {
  std::mt19937_64 random(5);
  last_rows index;
  for (int chunk = 0; chunk < 20; ++chunk) {
    std::map<std::uint64_t, std::size_t> last;
    for (std::size_t row = 0; row < 3000; ++row) {
      const std::uint64_t number = 1 + (random() % 2 == 0 ? random() % 500 : random() / 2);
      const auto known = last.find(number);
      ASSERT_EQ(index.distance(number, row), known == last.end() ? 0 : row - known->second);
      index.record(number, row);
      last[number] = row;
    }
    index.clear();
  }
}

TEST(address_last_rows, an_address_is_found_where_it_stood_last) {
  address_last_rows index(rows);
  EXPECT_EQ(index.record(0x5000, 0), 0U);
  EXPECT_EQ(index.record(0x6000, 1), 0U);
  EXPECT_EQ(index.record(0x5000, 3), 3U);
  EXPECT_EQ(index.distance(0x5000, 4), 1U);
  EXPECT_EQ(index.distance(0x6000, 4), 3U);
  EXPECT_EQ(index.distance(0x7000, 4), 0U);
}

TEST(address_last_rows, a_new_chunk_knows_nothing_of_the_one_before) {
  address_last_rows index(rows);
  for (const std::uint64_t address : {std::uint64_t{0x5000}, std::uint64_t{0x5001}, std::uint64_t{0}}) {
    index.clear(rows);
    EXPECT_EQ(index.record(address, 999), 0U);
    index.clear(1000);
    EXPECT_EQ(index.distance(address, 999), 0U);
    EXPECT_EQ(index.record(address, 999), 0U);
  }
}

// Addresses of every form, over more rows than a slot can count, against the rows themselves.
TEST(address_last_rows, every_distance_leads_to_the_same_address) {
  std::mt19937_64 random(3);
  address_last_rows index(rows);
  std::size_t heap = 0;
  std::size_t found = 0;
  for (int chunk = 0; chunk < 2000; ++chunk) {
    std::vector<std::uint64_t> history;
    const std::size_t length = 1 + random() % rows;
    for (std::size_t row = 0; row < length; ++row) {
      std::uint64_t address = random() % 256 * 16;
      if (random() % 4 == 0) address = random() % 64;                             // null, unaligned
      if (random() % 8 == 0) address = (random() % 5 << 61) + random() % 64;      // beyond 2^48
      if (random() % 8 == 0) address = random() % 8 << 45 | (random() % 64 * 8);  // far apart
      history.push_back(address);
      const std::size_t expected = index.distance(address, row);
      const std::size_t distance = index.record(address, row);
      ASSERT_EQ(distance, expected);
      ASSERT_LE(distance, row);
      if (distance == 0) continue;
      ASSERT_EQ(history[row - distance], address);
      const auto last = std::find(history.rbegin() + 1, history.rend(), address);
      ASSERT_EQ(static_cast<std::ptrdiff_t>(distance), last - history.rbegin());
      ++found;
    }
    heap += length;
    index.clear(length);
  }
  EXPECT_GT(found * 4, heap) << "and most that come back are found";
}

TEST(address_last_rows, all_addresses_of_a_megabyte_are_found) {
  constexpr std::size_t blocks = 1U << 14;
  for (const std::uint64_t base : {0x5555'0000'0000U, 0x7fff'1234'5670U}) {
    address_last_rows index(2 * blocks);
    for (std::size_t i = 0; i < blocks; ++i) EXPECT_EQ(index.record(base + i * 64, i), 0U);
    for (std::size_t i = 0; i < blocks; ++i) ASSERT_EQ(index.record(base + i * 64, blocks + i), blocks);
  }
}

}  // namespace
}  // namespace mallard::journal
