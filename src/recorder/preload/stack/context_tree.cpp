#include "recorder/preload/stack/context_tree.hpp"

#include <string.h>

#include "recorder/preload/spool/raw_calls.hpp"
#include "recorder/preload/spool/reader_watch.hpp"
#include "recorder/preload/spool/spool_lists.hpp"

namespace mallard::recorder {
namespace {

constexpr std::size_t slots_at_first = 1024;

}  // namespace

// Takes a block of numbers when the last one is used up, waits until it is backed by disk space, and maps it.
bool context_tree::number_next(spool_header* spool) noexcept {
  if (next_ != block_end_) return true;
  std::uint32_t begin = spool->contexts_used.load(std::memory_order_relaxed);
  const std::uint32_t room = spool->options.contexts;
  if (begin + block <= room) begin = spool->contexts_used.fetch_add(block);
  if (begin + block > room || !wait_for_contexts(spool, begin + block) || !map_contexts(begin + block))
    return false;
  next_ = begin;
  block_end_ = begin + block;
  return true;
}

bool context_tree::grow() noexcept {
  const std::size_t count = slots_ == nullptr ? slots_at_first : 2 * (mask_ + 1);
  auto* grown = static_cast<std::uint64_t*>(map_pages(count * sizeof *slots_));
  if (grown == nullptr) return false;
  std::uint64_t* old = slots_;
  const std::size_t old_count = old == nullptr ? 0 : mask_ + 1;
  for (std::size_t i = 0; i < old_count; ++i) {
    if (old[i] == 0) continue;
    std::size_t at = (old[i] >> 32) & (count - 1);
    while (grown[at] != 0) at = (at + 1) & (count - 1);
    grown[at] = old[i];
  }
  slots_ = grown;
  mask_ = count - 1;
  unmap_pages(old, old_count * sizeof *old);
  return true;
}

MALLARD_NOINLINE std::uint32_t context_tree::add(spool_header* spool, std::uint32_t parent,
                                                 std::uint64_t place, std::uint32_t stack_offset) noexcept {
  if ((place & scope_bit) == 0) see_module(spool, place);
  const bool is_full = slots_ == nullptr || 2 * used_ > mask_;
  if ((is_full && !grow()) || !number_next(spool)) {
    spool->contexts_wanting.fetch_add(1, std::memory_order_relaxed);
    return 0;
  }
  const std::uint32_t number = next_++;
  context_at(number) = {parent, stack_offset, place};
  if (number == parent + 1 && may_follow(parent)) return number;
  const std::uint32_t mixed = hash(parent, place);
  std::size_t at = mixed & mask_;
  while (slots_[at] != 0) at = (at + 1) & mask_;
  ++used_;
  slots_[at] = std::uint64_t{mixed} << 32 | number;
  return number;
}

void context_tree::forget() noexcept {
  if (slots_ != nullptr) memset(slots_, 0, (mask_ + 1) * sizeof *slots_);
  used_ = 0;
  memset(recent_, 0, sizeof recent_);
}

void context_tree::clear() noexcept {
  forget();
  next_ = block_end_ = 0;
}

}  // namespace mallard::recorder
