// thread_spans: where in the ops of a trace each recorded thread begins and ends.
//
//     note()    marks, one a change of thread:  op 0 at t=3   op 12 at t=9   op 13 at t=11 ...
//     lives()   a thread's start and end times --marks--> [begin, end) in ops
//
// A thread spans its own ops at least. Where a journal gives no times, a thread begins with its first op and
// ends behind its last. Memory: 16 bytes a change of thread.
#pragma once

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

}  // namespace mallard::replay
