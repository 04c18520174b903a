#include "recorder/launcher/ring_reader.hpp"

#include <algorithm>

namespace mallard::recorder {

ring_reader::ring_reader(spool_header* spool, std::uint32_t index, std::uint64_t ring_words) noexcept
    : header_(&ring_of(spool, index)),
      words_(ring_words_of(spool, index, ring_words)),
      mask_(ring_words - 1) {}

void ring_reader::look() noexcept {
  if (damaged_) return;
  const std::uint64_t head = header_->head.load(std::memory_order_acquire);
  const bool was_empty = empty();
  if (head < end_ || head - position_ > mask_ + 1) {
    damaged_ = true;
    end_ = position_;
    return;
  }
  end_ = head;
  if (was_empty) examine_next();
}

// Checks the record at `position_` and finds its time.
void ring_reader::examine_next() noexcept {
  if (empty()) return;
  first_ = word(position_);
  if (!is_known_record(first_) || record_words(first_) > end_ - position_) {
    damaged_ = true;
    end_ = position_;
    return;
  }
  time_ = std::max(time_, first_ >> time_shift);
}

record ring_reader::take() noexcept {
  const std::uint64_t first = first_;
  record taken;
  taken.kind = static_cast<unsigned>(first & kind_mask);
  taken.time = time_;
  std::uint64_t at = position_ + 1;
  const auto kind = static_cast<event_kind>(taken.kind);
  taken.address = word(at++);
  if ((first & caller_bit) != 0) taken.caller = word(at++);
  if (has_size(kind)) taken.size = word(at++);
  if (has_alignment(kind)) taken.alignment = word(at++);
  if (has_old_address(kind)) taken.old_address = word(at++);
  position_ = at;
  if (position_ - given_back_ > mask_ / 8) give_back();
  examine_next();
  return taken;
}

void ring_reader::give_back() noexcept {
  if (position_ == given_back_) return;
  given_back_ = position_;
  header_->tail.store(position_, std::memory_order_release);
}

}  // namespace mallard::recorder
