// schedule: a trace of blocks becomes a trace of threads: each op on its own thread, with what it waits for.
//
//     ops in recorded order     0 1 2 3 4 5 6 7
//     thread A, lane 0          0   2     5   7        5 frees what 1 allocated: it waits for 1
//     thread B, lane 1            1   3 4             3 frees what 2 allocated: it waits for 2
//     thread C, lane 1                      6         begins when B has ended
//
// A free waits for its allocation, a reallocation for the one before it. No op is done while one that is more
// than `window` before it is not; and none by which threads that are ahead would have more alive than was, or
// less, by a fiftieth of the trace's most live bytes: a hundredth by each of two rules (scheduler.cpp), or a
// few small blocks of each lane if that is more. Every wait is for a lower order, so the lowest that is not
// done can always be: there is no deadlock.
//
// Where several copies of the threads run at once (--scale), a part of the blocks can be freed by the copy
// before theirs: such a free waits for the next copy's allocation, and neither slot nor place of such a block
// is taken again.
//
// Slots and places are taken again only when the window says that their readers are done, and each lane
// has its own, on lines of its own. O(ops); memory: 32 bytes an op and 16 an allocation beside the trace.
#pragma once

#include <cstdint>
#include <span>

#include "journal/events/event_source.hpp"
#include "replay/trace/part_routes.hpp"
#include "replay/trace/thread_spans.hpp"
#include "replay/trace/trace.hpp"

namespace mallard::replay {

// Operations that a thread may be ahead of the recorded order, where the user does not say.
inline constexpr std::uint64_t default_window = 4096;

struct schedule_options {
  std::uint64_t window = default_window;
  std::uint64_t copies = 1;  // that run at once, at most
  double crossing = 0;       // part of the frees, 0 to 1, that the copy before that of the block does
};

// `lives` by thread as in the ops; `heaps` by op, where a part of the program has heaps of its own. Blocks
// that were never freed are freed by their threads, or by the last thread where theirs has ended. Throws
// journal::error for more ops than an order can count.
[[nodiscard]] trace schedule(const trace& blocks, const thread_lives& lives, schedule_options options,
                             std::span<const std::uint16_t> heaps = {});

// Reads all of `source` into a trace of threads, `routes` as trace_builder has them.
[[nodiscard]] trace build_thread_trace(journal::event_source& source, schedule_options options,
                                       const part_routes* routes = nullptr);

}  // namespace mallard::replay
