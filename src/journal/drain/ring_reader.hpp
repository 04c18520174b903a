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
#include <array>
#include <cstdint>

#include "journal/spool/ring_record.hpp"
#include "journal/spool/spool.hpp"
#include "mallard/core/attributes.hpp"

namespace mallard::journal {

struct record {
  unsigned kind = 0;          // an event_kind, snapshot_record, thread_begin or thread_end
  std::uint32_t context = 0;  // of the spool's context table
  std::uint64_t time = 0;
  std::uint64_t subject = 0;  // word 1: address or region; [number:32|system id:32] of a thread record; of a
                              // snapshot record where its words begin
  std::uint64_t size = 0;
  std::uint64_t extra = 0;     // as record.hpp has it
  std::uint64_t duration = 0;  // ticks; 0: not timed
};

class ring_reader {
 public:
  // `options` are the reader's own knowledge of the layout, not what the shared header says by now.
  // Begins at `tail`, whose thread is `tail_thread`.
  ring_reader(spool_header* spool, std::uint32_t index, const spool_options& options, std::uint64_t tail,
              std::uint64_t tail_thread) noexcept;

  // Looks how far the program has written.
  void look() noexcept;

  [[nodiscard]] bool empty() const noexcept { return position_ == end_; }
  [[nodiscard]] bool damaged() const noexcept { return damaged_; }

  // Of the next record; precondition: not empty. Never falls from one record to the next.
  [[nodiscard]] std::uint64_t next_time() const noexcept { return next_.time; }

  // Calls receive(record) with one record after the other, up to the last that is not later than `until`,
  // until `enough` words are passed that the program cannot use yet, `most` times at most, and none that is
  // timed after `settled`. Returns how often. A record is passed once it was received.
  template <class Receive>
  std::uint64_t take(std::uint64_t until, std::uint64_t enough, std::uint64_t most, std::uint64_t settled,
                     const Receive& receive);

  // Whether the next record is a free that is still being timed, later than `settled`: a free is published
  // before it is carried out, and how long that took is added afterwards.
  [[nodiscard]] bool awaits_timing(std::uint64_t settled) const noexcept {
    return !empty() && awaits_timing(settled, position_, next_);
  }

  // Whether it is time to make room, before the program has to wait for that.
  [[nodiscard]] bool nearly_full() const noexcept { return end_ - tail_ > mask_ / 8 * 3; }

  // The words of a snapshot record that is being received.
  [[nodiscard]] std::array<std::uint64_t, snapshot_words - 1> snapshot(const record& r) const noexcept;

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

  // The last event that was taken from here, as the merging reader numbers them from 0.
  static constexpr std::uint64_t no_event = UINT64_MAX;
  std::uint64_t last_event = no_event;
  std::uint32_t last_context = 0;  // its context, as the receiver numbers them

  [[nodiscard]] std::uint64_t stalls() const noexcept { return header_->stalls; }
  [[nodiscard]] std::uint64_t stalled_ticks() const noexcept { return header_->stalled_ticks; }
  [[nodiscard]] std::uint64_t sampled_ticks() const noexcept { return header_->sampled_ticks; }

 private:
  [[nodiscard]] std::uint64_t word(std::uint64_t at) const noexcept { return words_[at & mask_]; }
  struct next_record {
    std::uint64_t first = 0;   // its first word
    std::uint64_t length = 0;  // words
    std::uint64_t time = 0;
  };

  [[nodiscard]] bool awaits_timing(std::uint64_t settled, std::uint64_t position,
                                   const next_record& next) const noexcept;

  // Whether it makes sense.
  [[nodiscard]] bool examine(std::uint64_t position, next_record& next) const noexcept;
  [[nodiscard]] record read(std::uint64_t position, const next_record& next) const noexcept;
  void damage() noexcept;

  ring_header* header_;
  const std::uint64_t* words_;
  std::uint64_t mask_;
  std::uint64_t position_;
  std::uint64_t end_;
  std::uint64_t tail_;
  std::uint64_t announced_;
  next_record next_;
  bool damaged_ = false;
};

namespace detail {

constexpr std::uint64_t bit_of(unsigned kind) noexcept { return std::uint64_t{1} << kind; }

constexpr std::uint64_t find_known_records() noexcept {
  std::uint64_t known = bit_of(snapshot_record) | bit_of(thread_begin) | bit_of(thread_end);
  for (unsigned kind = 1; kind <= static_cast<unsigned>(event_kind::region_destroy); ++kind)
    if (!name_of(static_cast<event_kind>(kind)).empty()) known |= bit_of(kind);
  return known;
}
inline constexpr std::uint64_t known_records = find_known_records();

}  // namespace detail

// Finds the length and the time of the record at `position`. The lines behind it were written by another
// core, and it takes long to fetch one: they are asked for in time.
MALLARD_INLINE bool ring_reader::examine(std::uint64_t position, next_record& next) const noexcept {
  constexpr std::uint64_t ahead = 64;  // words
  __builtin_prefetch(&words_[(position + ahead) & mask_]);
  const std::uint64_t first = word(position);
  const auto kind = static_cast<unsigned>(first & kind_mask);
  std::uint64_t length = 2 + (first / site_bit & 1) + (first / extra_bit & 1) + (first / timed_bit & 1);
  const std::uint64_t left = end_ - position;
  if (kind == snapshot_record) [[unlikely]]
    length = snapshot_words;
  else if ((first & site_bit) != 0 && static_cast<std::uint32_t>(word(position + 2)) == large_size &&
           left > 2) [[unlikely]]
    ++length;
  next.first = first;
  next.length = length;
  next.time = std::max(next.time, first >> time_shift);
  return (detail::known_records & detail::bit_of(kind)) != 0 && length <= left;
}

MALLARD_INLINE record ring_reader::read(std::uint64_t position, const next_record& next) const noexcept {
  constexpr std::uint64_t rare_bits = extra_bit | timed_bit;
  record r;
  r.kind = static_cast<unsigned>(next.first & kind_mask);
  r.time = next.time;
  if (r.kind == snapshot_record) [[unlikely]] {
    r.subject = position + 1;
    return r;
  }
  r.subject = word(position + 1);
  const std::uint64_t with_site = next.first / site_bit & 1;
  const std::uint64_t site = word(position + 2) & (0 - with_site);
  r.context = static_cast<std::uint32_t>(site >> 32);
  r.size = static_cast<std::uint32_t>(site);
  if ((next.first & rare_bits) == 0 && r.size != large_size) [[likely]]
    return r;
  std::uint64_t at = position + 2 + with_site;
  if (r.size == large_size) r.size = word(at++);
  if ((next.first & extra_bit) != 0) r.extra = word(at++);
  if ((next.first & timed_bit) != 0) r.duration = word(at);
  return r;
}

// A duration is the last word of its record.
MALLARD_INLINE bool ring_reader::awaits_timing(std::uint64_t settled, std::uint64_t position,
                                               const next_record& next) const noexcept {
  return (next.first & timed_bit) != 0 && next.time > settled &&
         is_free(static_cast<event_kind>(next.first & kind_mask)) && word(position + next.length - 1) == 0;
}

template <class Receive>
std::uint64_t ring_reader::take(std::uint64_t until, std::uint64_t enough, std::uint64_t most,
                                std::uint64_t settled, const Receive& receive) {
  std::uint64_t taken = 0;
  std::uint64_t position = position_;  // in registers, from record to record
  next_record next = next_;
  while (position != end_ && next.time <= until && position - tail_ < enough && taken != most &&
         !awaits_timing(settled, position, next)) {
    const record r = read(position, next);
    receive(r);
    ++taken;
    position += next.length;
    position_ = position;
    if (position == end_) break;
    if (!examine(position, next)) [[unlikely]] {
      damage();
      break;
    }
    next_ = next;
  }
  return taken;
}

inline ring_reader::ring_reader(spool_header* spool, std::uint32_t index, const spool_options& options,
                                std::uint64_t tail, std::uint64_t tail_thread) noexcept
    : thread_word(tail_thread),
      header_(&ring_of(spool, index)),
      words_(ring_words_of(spool, index, options)),
      mask_(options.ring_words - 1),
      position_(tail),
      end_(tail),
      tail_(tail),
      announced_(tail) {}

inline void ring_reader::look() noexcept {
  if (damaged_) return;
  const std::uint64_t head = header_->head.load(std::memory_order_acquire);
  const bool was_empty = empty();
  if (head < end_ || head - tail_ > mask_ + 1) {
    damage();
    return;
  }
  end_ = head;
  if (was_empty && !empty() && !examine(position_, next_)) damage();
}

// Nothing from here on is read.
inline void ring_reader::damage() noexcept {
  damaged_ = true;
  end_ = position_;
}

inline std::array<std::uint64_t, snapshot_words - 1> ring_reader::snapshot(const record& r) const noexcept {
  std::array<std::uint64_t, snapshot_words - 1> seen;
  for (std::size_t i = 0; i < seen.size(); ++i) seen[i] = word(r.subject + i);
  return seen;
}

inline void ring_reader::announce(bool included) noexcept {
  announced_ = position_ + (included ? next_.length : 0);
  header_->next_tail_thread.store(thread_word, std::memory_order_relaxed);
  header_->next_tail.store(announced_, std::memory_order_release);
}

inline void ring_reader::give_back() noexcept {
  if (announced_ == tail_) return;
  tail_ = announced_;
  header_->tail_thread.store(header_->next_tail_thread.load(std::memory_order_relaxed),
                             std::memory_order_relaxed);
  header_->tail.store(tail_, std::memory_order_release);
}

}  // namespace mallard::journal
