#include "journal/drain/ring_reader.hpp"

namespace mallard::journal {
ring_reader::ring_reader(spool_header* spool, std::uint32_t index, const spool_options& options,
                         std::uint64_t tail, std::uint64_t tail_thread) noexcept
    : thread_word(tail_thread),
      header_(&ring_of(spool, index)),
      words_(ring_words_of(spool, index, options)),
      mask_(options.ring_words - 1),
      position_(tail),
      end_(tail),
      tail_(tail),
      announced_(tail) {}

void ring_reader::look() noexcept {
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
void ring_reader::damage() noexcept {
  damaged_ = true;
  end_ = position_;
}

std::array<std::uint64_t, snapshot_words - 1> ring_reader::snapshot(const record& r) const noexcept {
  std::array<std::uint64_t, snapshot_words - 1> seen;
  for (std::size_t i = 0; i < seen.size(); ++i) seen[i] = word(r.subject + i);
  return seen;
}

void ring_reader::announce(bool included) noexcept {
  announced_ = position_ + (included ? next_.length : 0);
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
