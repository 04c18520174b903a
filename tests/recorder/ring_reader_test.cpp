// A ring that the program has written over is left alone: nothing read from it is out of bounds.
#include <gtest/gtest.h>

#include <random>

#include "recorder/launcher/ring_reader.hpp"
#include "recorder/launcher/spool_file.hpp"
#include "recorder/run.hpp"

namespace mallard::recorder {
namespace {

class ring_reading : public testing::Test {
 protected:
  // Puts records into ring 1 as a program would.
  void write(std::initializer_list<std::uint64_t> words) {
    for (const std::uint64_t w : words) words_[head_++ % size_] = w;
    ring_.head = head_;
  }

  test::scratch_folder folder_;
  spool_file spool_{folder_ / "spool", {smallest_ring, 0, false}};
  ring_header& ring_ = ring_of(spool_.header(), 1);
  const std::uint64_t size_ = spool_.header()->ring_words;
  std::uint64_t* words_ = ring_words_of(spool_.header(), 1, size_);
  std::uint64_t head_ = 0;
  ring_reader reader_{spool_.header(), 1, size_};
};

constexpr auto malloc_kind = static_cast<unsigned>(event_kind::malloc) | caller_bit;

TEST_F(ring_reading, records_come_out_as_they_went_in) {
  for (std::uint64_t i = 1; i <= 1000; ++i) {  // several times around
    write({first_word(malloc_kind, i), 16 * i, 4711, 100 + i});
    reader_.look();
    ASSERT_FALSE(reader_.empty());
    EXPECT_EQ(reader_.next_time(), i);
    const record r = reader_.take();
    EXPECT_EQ(r.address, 16 * i);
    EXPECT_EQ(r.caller, 4711u);
    EXPECT_EQ(r.size, 100 + i);
    EXPECT_TRUE(reader_.empty());
    reader_.give_back();
    EXPECT_EQ(ring_.tail, head_);
  }
}

TEST_F(ring_reading, time_never_falls) {
  write({first_word(malloc_kind, 50), 16, 1, 1, first_word(malloc_kind, 40), 32, 1, 1});
  reader_.look();
  EXPECT_EQ(reader_.take().time, 50u);
  EXPECT_EQ(reader_.take().time, 50u);
}

TEST_F(ring_reading, an_unknown_record_ends_the_ring) {
  write({first_word(malloc_kind, 1), 16, 1, 1, first_word(33, 2), 0});
  reader_.look();
  static_cast<void>(reader_.take());
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
  const record r = reader_.take();
  EXPECT_EQ(r.kind, static_cast<unsigned>(event_kind::free));
  EXPECT_EQ(r.time, 7u);
  EXPECT_TRUE(reader_.empty());
  EXPECT_FALSE(reader_.damaged());
}

TEST_F(ring_reading, the_size_of_a_ring_is_not_the_programs_to_change) {
  spool_.header()->ring_words = std::uint64_t{1} << 60;
  ring_.head = size_ + 1;
  reader_.look();
  EXPECT_TRUE(reader_.empty());
  EXPECT_TRUE(reader_.damaged());
}

TEST_F(ring_reading, noise_is_read_within_bounds) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 1000; ++round) {
    ring_reader reader(spool_.header(), 1, size_);
    for (std::uint64_t i = 0; i < size_; ++i) words_[i] = random();
    ring_.head = random() % (size_ + 1);
    reader.look();
    std::uint64_t taken = 0;
    for (; !reader.empty(); ++taken) static_cast<void>(reader.take());
    EXPECT_LE(taken, size_ / 2);
  }
}

}  // namespace
}  // namespace mallard::recorder
