// ring_reader: one ring of the spool, read record by record and in place.
//
//     tail ........ next_tail ........ position ........ head
//       in the file     | in a chunk       | passed, not yet  | not yet passed
//                       | being written    | in a chunk       |
//
// The ring lies in memory that the program can write to, wild pointers included, so nothing in it is
// trusted: a ring whose contents make no sense is left alone from then on. Copies nothing but the
// record at hand. Passing a record frees no room: the program gets it once the journal's file has it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "journal/spool/record.hpp"
#include "journal/spool/spool.hpp"
#include "mallard/core/attributes.hpp"

namespace mallard::journal {

struct record {
  unsigned kind = 0;          // an event_kind, witness_record, thread_begin or thread_end
  std::uint32_t context = 0;  // of the spool's context table
  std::uint64_t time = 0;
  std::uint64_t subject = 0;  // word 1: address or region; [number:32|system id:32] of a thread record
  std::uint64_t size = 0;
  std::uint64_t extra = 0;                        // as record.hpp has it
  std::uint64_t duration = 0;                     // ticks; 0: not timed
  std::uint64_t witness[witness_words - 1] = {};  // of a witness_record alone
};

class ring_reader {
 public:
  // `ring_words` is the reader's own knowledge of the size, not what the shared header says by now.
  // Begins at `tail`, whose thread is `tail_thread`.
  ring_reader(spool_header* spool, std::uint32_t index, std::uint64_t ring_words, std::uint64_t tail,
              std::uint64_t tail_thread) noexcept;

  // Looks how far the program has written.
  void look() noexcept;

  [[nodiscard]] bool empty() const noexcept { return position_ == end_; }
  [[nodiscard]] bool damaged() const noexcept { return damaged_; }

  // Of the next record; precondition: not empty. Never falls from one record to the next.
  [[nodiscard]] std::uint64_t next_time() const noexcept { return time_; }

  // Reads the next record, and passes it; precondition: not empty. Fills in the witness of a witness record
  // alone.
  void read(record& next) const noexcept;
  void pass() noexcept;

  // Words passed that the program cannot use yet.
  [[nodiscard]] std::uint64_t words_held() const noexcept { return position_ - tail_; }

  // Notes that all that was passed is about to be written, and the next record too where it is `included`;
  // then, that it is.
  void announce(bool included = false) noexcept;
  void give_back() noexcept;

  // Whose records come next: [number:32 | system id:32], and its index among the journal's threads;
  // kept here for the merging reader.
  std::uint64_t thread_word = 0;
  std::uint32_t thread = 0;

  [[nodiscard]] std::uint64_t stalls() const noexcept { return header_->stalls; }
  [[nodiscard]] std::uint64_t stalled_ticks() const noexcept { return header_->stalled_ticks; }
  [[nodiscard]] std::uint64_t sampled_ticks() const noexcept { return header_->sampled_ticks; }

 private:
  [[nodiscard]] std::uint64_t word(std::uint64_t at) const noexcept { return words_[at & mask_]; }
  void examine_next() noexcept;

  ring_header* header_;
  const std::uint64_t* words_;
  std::uint64_t mask_;
  std::uint64_t position_;
  std::uint64_t end_;
  std::uint64_t tail_;
  std::uint64_t announced_;
  std::uint64_t first_ = 0;  // of the next record: its first word, its length and its time
  std::uint64_t length_ = 0;
  std::uint64_t time_ = 0;
  bool damaged_ = false;
};

namespace detail {

constexpr std::uint64_t bit_of(unsigned kind) noexcept { return std::uint64_t{1} << kind; }

constexpr std::uint64_t find_known_records() noexcept {
  std::uint64_t known = bit_of(witness_record) | bit_of(thread_begin) | bit_of(thread_end);
  for (unsigned kind = 1; kind <= static_cast<unsigned>(event_kind::region_destroy); ++kind)
    if (!name_of(static_cast<event_kind>(kind)).empty()) known |= bit_of(kind);
  return known;
}
inline constexpr std::uint64_t known_records = find_known_records();

}  // namespace detail

// Checks the record at `position_` and finds its time and length. The lines behind it were written by
// another core, and it takes long to fetch one: they are asked for in time.
MALLARD_INLINE void ring_reader::examine_next() noexcept {
  constexpr std::uint64_t ahead = 64;  // words
  if (empty()) return;
  __builtin_prefetch(&words_[(position_ + ahead) & mask_]);
  first_ = word(position_);
  const unsigned kind = static_cast<unsigned>(first_ & kind_mask);
  length_ = 2u + (first_ / site_bit & 1) + (first_ / extra_bit & 1) + (first_ / timed_bit & 1);
  const std::uint64_t left = end_ - position_;
  if (kind == witness_record) [[unlikely]]
    length_ = witness_words;
  else if ((first_ & site_bit) != 0 && left > 2)
    length_ += (word(position_ + 2) & UINT32_MAX) == large_size;
  if ((detail::known_records & detail::bit_of(kind)) == 0 || length_ > left) [[unlikely]] {
    damaged_ = true;
    end_ = position_;
    return;
  }
  time_ = std::max(time_, first_ >> time_shift);
}

MALLARD_INLINE void ring_reader::read(record& next) const noexcept {
  const std::uint64_t first = first_;
  next.kind = static_cast<unsigned>(first & kind_mask);
  next.time = time_;
  std::uint64_t at = position_ + 1;
  if (next.kind == witness_record) [[unlikely]] {
    for (std::uint64_t& seen : next.witness) seen = word(at++);
    return;
  }
  next.subject = word(at++);
  const std::uint64_t site = (first & site_bit) != 0 ? word(at++) : 0;
  next.context = static_cast<std::uint32_t>(site >> 32);
  next.size = site & UINT32_MAX;
  if (next.size == large_size) [[unlikely]]
    next.size = word(at++);
  next.extra = (first & extra_bit) != 0 ? word(at++) : 0;
  next.duration = (first & timed_bit) != 0 ? word(at) : 0;
}

MALLARD_INLINE void ring_reader::pass() noexcept {
  position_ += length_;
  examine_next();
}

}  // namespace mallard::journal
