// A ring that the program has written over is left alone: nothing read from it is out of bounds. So is the
// ring of modules, around its end, given back and written over.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string_view>

#include "journal/drain/memory_spool.hpp"
#include "journal/drain/ring_reader.hpp"
#include "journal/drain/spool_description.hpp"

namespace mallard::journal {
namespace {

class ring_reading : public testing::Test {
 protected:
  // Puts records into ring 1 as a program would.
  void write(std::initializer_list<std::uint64_t> words) {
    for (const std::uint64_t w : words) words_[head_++ % size_] = w;
    ring_.head = head_;
  }

  test::memory_spool spool_{smallest_ring};
  ring_header& ring_ = ring_of(spool_.header(), 1);
  const spool_options options_ = spool_.header()->options;
  const std::uint64_t size_ = options_.ring_words;
  std::uint64_t* words_ = ring_words_of(spool_.header(), 1, options_);
  std::uint64_t head_ = 0;
  ring_reader reader_{spool_.header(), 1, options_, 0, 0};
};

record take_one(ring_reader& reader) {
  record taken;
  EXPECT_EQ(reader.take(UINT64_MAX, UINT64_MAX, 1, UINT64_MAX, [&](const record& r) { taken = r; }), 1u);
  return taken;
}

constexpr auto malloc_kind = static_cast<unsigned>(event_kind::malloc) | site_bit;

TEST_F(ring_reading, records_come_out_as_they_went_in) {
  for (std::uint64_t i = 1; i <= 1000; ++i) {  // several times around
    write({first_word(malloc_kind, i), 16 * i, site_word(4711, 100 + i)});
    reader_.look();
    ASSERT_FALSE(reader_.empty());
    EXPECT_EQ(reader_.next_time(), i);
    record r = take_one(reader_);
    EXPECT_EQ(r.subject, 16 * i);
    EXPECT_EQ(r.context, 4711u);
    EXPECT_EQ(r.size, 100 + i);
    EXPECT_TRUE(reader_.empty());
    EXPECT_NE(ring_.tail, head_);  // the journal's file has it not yet
    reader_.announce();
    EXPECT_EQ(ring_.next_tail, head_);
    reader_.give_back();
    EXPECT_EQ(ring_.tail, head_);
  }
}

TEST_F(ring_reading, every_field_is_in_its_place) {
  constexpr unsigned bits = site_bit | extra_bit | timed_bit;
  const std::uint64_t huge = std::uint64_t{5} << 32;
  write({first_word(static_cast<unsigned>(event_kind::realloc) | bits, 3), 16, site_word(7, huge), huge, 32,
         99});
  write({first_word(static_cast<unsigned>(event_kind::free), 4), 48});
  reader_.look();
  record r = take_one(reader_);
  EXPECT_EQ(r.kind, static_cast<unsigned>(event_kind::realloc));
  EXPECT_EQ(r.context, 7u);
  EXPECT_EQ(r.size, huge);
  EXPECT_EQ(r.extra, 32u);
  EXPECT_EQ(r.duration, 99u);
  r = take_one(reader_);
  EXPECT_EQ(r.subject, 48u);
  EXPECT_EQ(r.context, 0u);
  EXPECT_EQ(r.size, 0u);
  EXPECT_EQ(r.duration, 0u);
  EXPECT_TRUE(reader_.empty());
  EXPECT_FALSE(reader_.damaged());
}

TEST_F(ring_reading, a_free_that_is_being_timed_is_waited_for) {
  constexpr auto timed_free = static_cast<unsigned>(event_kind::free) | timed_bit;
  write({first_word(malloc_kind, 1), 16, 1, first_word(timed_free, 5), 16, 0});
  reader_.look();
  std::vector<std::uint64_t> durations;
  const auto take_after = [&](std::uint64_t settled) {
    return reader_.take(UINT64_MAX, UINT64_MAX, UINT64_MAX, settled,
                        [&](const record& r) { durations.push_back(r.duration); });
  };
  EXPECT_EQ(take_after(4), 1u);
  EXPECT_TRUE(reader_.awaits_timing(4));
  EXPECT_EQ(take_after(4), 0u);
  EXPECT_FALSE(reader_.awaits_timing(5)) << "it is taken as it is";
  words_[5] = 77;
  EXPECT_EQ(take_after(4), 1u);
  EXPECT_EQ(durations, (std::vector<std::uint64_t>{0, 77}));
}

TEST_F(ring_reading, time_never_falls) {
  write({first_word(malloc_kind, 50), 16, 1, first_word(malloc_kind, 40), 32, 1});
  reader_.look();
  record r = take_one(reader_);
  EXPECT_EQ(r.time, 50u);
  r = take_one(reader_);
  EXPECT_EQ(r.time, 50u);
}

TEST_F(ring_reading, an_unknown_record_ends_the_ring) {
  write({first_word(malloc_kind, 1), 16, 1, first_word(33, 2), 0});
  reader_.look();
  static_cast<void>(take_one(reader_));
  EXPECT_TRUE(reader_.empty());
  EXPECT_TRUE(reader_.damaged());
}

TEST_F(ring_reading, a_record_that_reaches_beyond_the_end_is_not_read) {
  write({first_word(malloc_kind, 1), 16});
  reader_.look();
  EXPECT_TRUE(reader_.empty());
  EXPECT_TRUE(reader_.damaged());
}

TEST_F(ring_reading, positions_that_cannot_be_are_not_followed) {
  ring_.head = size_ + 1;
  reader_.look();
  EXPECT_TRUE(reader_.empty());
  EXPECT_TRUE(reader_.damaged());
}

TEST_F(ring_reading, a_record_overwritten_after_it_was_checked_keeps_its_length) {
  write({first_word(static_cast<unsigned>(event_kind::free), 7), 16});
  reader_.look();
  words_[0] = first_word(malloc_kind, 9);
  record r = take_one(reader_);
  EXPECT_EQ(r.kind, static_cast<unsigned>(event_kind::free));
  EXPECT_EQ(r.time, 7u);
  EXPECT_TRUE(reader_.empty());
  EXPECT_FALSE(reader_.damaged());
}

TEST_F(ring_reading, the_size_of_a_ring_is_not_the_programs_to_change) {
  spool_.header()->options.ring_words = std::uint64_t{1} << 60;
  ring_.head = size_ + 1;
  reader_.look();
  EXPECT_TRUE(reader_.empty());
  EXPECT_TRUE(reader_.damaged());
}

TEST_F(ring_reading, noise_is_read_within_bounds) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 1000; ++round) {
    ring_reader reader(spool_.header(), 1, options_, 0, 0);
    for (std::uint64_t i = 0; i < size_; ++i) words_[i] = random();
    ring_.head = random() % (size_ + 1);
    reader.look();
    std::uint64_t taken = 0;
    while (!reader.empty())
      taken += reader.take(UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, [](const record&) {});
    EXPECT_LE(taken, size_ / 2);
  }
}

class listing : public testing::Test {
 protected:
  // As a program lists a module.
  void put(std::uint64_t begin, std::string_view path, std::string_view id) {
    const module_entry entry{.time = 9,
                             .begin = begin,
                             .end = begin + 10,
                             .bias = 1,
                             .path_bytes = static_cast<std::uint32_t>(path.size()),
                             .build_id_bytes = static_cast<std::uint32_t>(id.size())};
    std::string bytes(reinterpret_cast<const char*>(&entry), sizeof entry);
    bytes.append(path).append(id);
    bytes.resize((bytes.size() + 7) / 8 * 8);
    std::uint64_t head = header_->modules_head;
    for (const char c : bytes) modules_of(header_)[head++ % module_ring_bytes] = c;
    header_->modules_head = head;
  }

  test::memory_spool spool_{smallest_ring};
  spool_header* header_ = spool_.header();
  spool_modules list_{header_};
};

TEST_F(listing, goes_around_the_end_of_the_ring) {
  const std::string path = "/lib/" + std::string(5000, 'x');
  module_info module;
  for (std::uint64_t i = 1; i < 200; ++i) {
    put(16 * i, path, "\x0f\xa0");
    ASSERT_TRUE(list_.next(module)) << i;
    EXPECT_EQ(module, (module_info{.begin = 16 * i,
                                   .end = 16 * i + 10,
                                   .bias = 1,
                                   .load_time = 9,
                                   .path = path,
                                   .build_id = "0fa0"}));
    EXPECT_FALSE(list_.next(module));
    EXPECT_GT(list_.bytes_held(), 5000u);
    list_.announce();
    list_.give_back();
    EXPECT_EQ(list_.bytes_held(), 0u);
    EXPECT_EQ(header_->modules_tail, header_->modules_head);
  }
}

TEST_F(listing, ends_where_it_was_written_over) {
  put(16, "/lib/a.so", "");
  put(32, "/lib/b.so", "");
  const std::uint32_t too_long = 100'000;
  std::memcpy(modules_of(header_) + 56 + offsetof(module_entry, path_bytes), &too_long, sizeof too_long);
  module_info module;
  EXPECT_TRUE(list_.next(module));
  EXPECT_FALSE(list_.next(module));
  EXPECT_FALSE(list_.next(module));
  header_->modules_head = UINT64_MAX;
  EXPECT_FALSE(list_.next(module));
}

}  // namespace
}  // namespace mallard::journal
