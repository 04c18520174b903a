// thread_spans: where in the ops of a trace each recorded thread begins and ends.
//
//     note()    marks, one a change of thread:  op 0 at t=3   op 12 at t=9   op 13 at t=11 ...
//     lives()   a thread's start and end times --marks--> [begin, end) in ops
//
// A thread spans its own ops at least. Where a journal gives no times, a thread begins with its first op and
// ends behind its last. Memory: 16 bytes a change of thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "journal/events/process_tables.hpp"

namespace mallard::replay {

struct thread_span {
  std::uint64_t begin = 0;  // index of the first op during its life
  std::uint64_t end = 0;    // index of the first op after it; 0: it has no ops

  friend bool operator==(const thread_span&, const thread_span&) = default;
};

struct thread_lives {
  std::vector<thread_span> spans;  // by thread
  bool have_times = false;         // whether the journal says when threads begin and end
};

class thread_spans {
 public:
  // `thread` has done the op, at `time`; ops come in their order.
  void note(std::uint32_t thread, std::size_t op, std::uint64_t time);

  // `thread` turns out to have done this op, which another was noted for.
  void note_late(std::uint32_t thread, std::size_t op);

  // By thread, out of `ops` in all.
  [[nodiscard]] thread_lives lives(std::span<const journal::thread_info> threads, std::size_t ops) const;

 private:
  // Ops of one thread after which its time is noted again.
  static constexpr std::size_t most_between = 64;

  struct mark {
    std::uint64_t time;
    std::size_t op;
  };

  // The first op that was done at `time` or later, as far as the marks tell.
  [[nodiscard]] std::size_t op_at(std::uint64_t time, std::size_t ops) const;

  std::vector<mark> marks_;       // in order of both
  std::vector<thread_span> own_;  // by thread: of its ops alone
  std::uint32_t last_ = UINT32_MAX;
};

inline void thread_spans::note(std::uint32_t thread, std::size_t op, std::uint64_t time) {
  note_late(thread, op);
  if (thread == last_ && op - marks_.back().op < most_between) return;
  last_ = thread;
  marks_.push_back({marks_.empty() ? time : std::max(time, marks_.back().time), op});
}

inline void thread_spans::note_late(std::uint32_t thread, std::size_t op) {
  if (thread >= own_.size()) own_.resize(thread + 1);
  thread_span& own = own_[thread];
  own.begin = own.end == 0 ? op : std::min<std::uint64_t>(own.begin, op);
  own.end = std::max<std::uint64_t>(own.end, op + 1);
}

inline std::size_t thread_spans::op_at(std::uint64_t time, std::size_t ops) const {
  const auto found = std::ranges::lower_bound(marks_, time, {}, &mark::time);
  return found == marks_.end() ? ops : found->op;
}

inline thread_lives thread_spans::lives(std::span<const journal::thread_info> threads,
                                        std::size_t ops) const {
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
