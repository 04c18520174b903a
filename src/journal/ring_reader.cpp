#include "journal/ring_reader.hpp"

#include <algorithm>

namespace mallard::journal {
namespace {

constexpr std::uint64_t bit(unsigned kind) noexcept { return std::uint64_t{1} << kind; }

constexpr std::uint64_t known_kinds() noexcept {
  std::uint64_t known = bit(witness_record) | bit(thread_begin) | bit(thread_end);
  for (unsigned kind = 1; kind <= static_cast<unsigned>(event_kind::region_destroy); ++kind)
    if (!name_of(static_cast<event_kind>(kind)).empty()) known |= bit(kind);
  return known;
}

}  // namespace

ring_reader::ring_reader(spool_header* spool, std::uint32_t index, std::uint64_t ring_words,
                         std::uint64_t tail, std::uint64_t tail_thread) noexcept
    : thread_word(tail_thread),
      header_(&ring_of(spool, index)),
      words_(ring_words_of(spool, index, ring_words)),
      mask_(ring_words - 1),
      position_(tail),
      end_(tail),
      tail_(tail),
      announced_(tail) {}

void ring_reader::look() noexcept {
  if (damaged_) return;
  const std::uint64_t head = header_->head.load(std::memory_order_acquire);
  const bool was_empty = empty();
  if (head < end_ || head - tail_ > mask_ + 1) {
    damaged_ = true;
    end_ = position_;
    return;
  }
  end_ = head;
  if (was_empty) examine_next();
}

// Checks the record at `position_` and finds its time and length.
void ring_reader::examine_next() noexcept {
  if (empty()) return;
  first_ = word(position_);
  const unsigned kind = static_cast<unsigned>(first_ & kind_mask);
  length_ = 2u + ((first_ & site_bit) != 0) + ((first_ & extra_bit) != 0) + ((first_ & timed_bit) != 0);
  const std::uint64_t left = end_ - position_;
  if (kind == witness_record)
    length_ = witness_words;
  else if ((first_ & site_bit) != 0 && left > 2)
    length_ += (word(position_ + 2) & UINT32_MAX) == large_size;
  if ((known_kinds() & bit(kind)) == 0 || length_ > left) {
    damaged_ = true;
    end_ = position_;
    return;
  }
  time_ = std::max(time_, first_ >> time_shift);
}

void ring_reader::read(record& next) const noexcept {
  const std::uint64_t first = first_;
  next.kind = static_cast<unsigned>(first & kind_mask);
  next.time = time_;
  std::uint64_t at = position_ + 1;
  if (next.kind == witness_record) {
    for (std::uint64_t& seen : next.witness) seen = word(at++);
  } else {
    next.subject = word(at++);
    const std::uint64_t site = (first & site_bit) != 0 ? word(at++) : 0;
    next.context = static_cast<std::uint32_t>(site >> 32);
    next.size = site & UINT32_MAX;
    if (next.size == large_size) next.size = word(at++);
    next.extra = (first & extra_bit) != 0 ? word(at++) : 0;
    next.duration = (first & timed_bit) != 0 ? word(at) : 0;
  }
}

void ring_reader::pass() noexcept {
  position_ += length_;
  examine_next();
}

void ring_reader::announce(bool included) noexcept {
  announced_ = position_ + (included ? length_ : 0);
  header_->next_tail_thread.store(thread_word, std::memory_order_relaxed);
  header_->next_tail.store(announced_, std::memory_order_release);
}

void ring_reader::give_back() noexcept {
  if (announced_ == tail_) return;
  tail_ = announced_;
  header_->tail_thread.store(header_->next_tail_thread.load(std::memory_order_relaxed),
                             std::memory_order_relaxed);
  header_->tail.store(tail_, std::memory_order_release);
}

}  // namespace mallard::journal
