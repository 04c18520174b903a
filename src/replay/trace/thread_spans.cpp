#include "replay/trace/thread_spans.hpp"

#include <algorithm>

namespace mallard::replay {
namespace {

// Ops of one thread after which its time is noted again.
constexpr std::size_t most_between = 64;

}  // namespace

void thread_spans::note(std::uint32_t thread, std::size_t op, std::uint64_t time) {
  note_late(thread, op);
  if (thread == last_ && op - marks_.back().op < most_between) return;
  last_ = thread;
  marks_.push_back({marks_.empty() ? time : std::max(time, marks_.back().time), op});
}

void thread_spans::note_late(std::uint32_t thread, std::size_t op) {
  if (thread >= own_.size()) own_.resize(thread + 1);
  thread_span& own = own_[thread];
  own.begin = own.end == 0 ? op : std::min<std::uint64_t>(own.begin, op);
  own.end = std::max<std::uint64_t>(own.end, op + 1);
}

std::size_t thread_spans::op_at(std::uint64_t time, std::size_t ops) const {
  const auto found = std::ranges::lower_bound(marks_, time, {}, &mark::time);
  return found == marks_.end() ? ops : found->op;
}

thread_lives thread_spans::lives(std::span<const journal::thread_info> threads, std::size_t ops) const {
  const auto has_times = [](const journal::thread_info& t) { return t.start_time != 0 || t.end_time != 0; };
  thread_lives result{own_, std::ranges::any_of(threads, has_times)};
  if (!result.have_times) return result;
  for (std::size_t t = 0; t < own_.size() && t < threads.size(); ++t) {
    thread_span& life = result.spans[t];
    if (life.end == 0) continue;
    const journal::thread_info& info = threads[t];
    life.begin = std::min<std::uint64_t>(life.begin, op_at(info.start_time, ops));
    life.end = info.end_time == 0 ? ops : std::max<std::uint64_t>(life.end, op_at(info.end_time, ops));
  }
  return result;
}

}  // namespace mallard::replay
