// trace: a journal as a pass replays it, in memory outside every allocator's heap.
//
//     [ trace_facts | op op op op ... | place place ... | mark ... or thread ... | heap ... ]
//
// One shared file, which workers inherit. The ops leave nothing alive: blocks the program never freed are
// freed at the end, in the order of their allocation, so that passes repeat. Places are where `none` hands
// its blocks out (places.hpp), one for each allocation. Marks lead from ops back to the journal's events.
// Workers map the file read-only. A trace of regions has ops of its own (op.hpp) and ends what the
// program left in the same way; so has a trace of threads, which lists its threads as well.
// Where a part of the program has heaps of its own (part_routes.hpp), ops say whose their blocks are, and
// what each heap is asked for is listed. Building them: trace_builder.hpp, region_trace_builder.hpp,
// scheduler.hpp.
#pragma once

#include <cstdint>
#include <span>

#include "harness/mapping.hpp"
#include "replay/trace/op.hpp"

namespace mallard::replay {

// What of a journal is replayed: the blocks of the malloc family, by one thread or on the recorded ones, or
// its regions with what is in them.
enum class subject : std::uint8_t { blocks, regions, threads };

// Ops from `op` on stem from the journal's events from `event` on, one from each, to the next mark; the two
// halves of a reallocate are of one event. A journal of nothing but allocations and frees has one mark.
// Events are numbered from 0; numbers that the journal does not reach are of frees at the end of a pass.
struct event_mark {
  std::uint64_t op;
  std::uint64_t event;
};

// A part of the program that has heaps of its own.
struct part_facts {
  std::uint64_t heaps = 0;   // 0: no part has
  std::uint64_t events = 0;  // operations of a pass on its blocks
  std::uint64_t blocks = 0;  // that its heaps are asked for, by allocations and reallocations
};

// What one of its heaps is asked for, over a whole pass.
struct heap_demand {
  std::uint64_t largest = 0;  // bytes of a block
  std::uint64_t align = 1;    // bytes, the strictest
};

struct trace_facts {
  subject of = subject::blocks;
  std::uint64_t events = 0;    // in the journal
  std::uint64_t left_out = 0;  // of these, by the routes of a part (part_routes.hpp)
  std::uint64_t threads = 0;

  part_facts part = {};

  // Of a trace of threads.
  std::uint64_t threads_replayed = 0;  // those that have operations
  std::uint64_t threads_at_once = 0;   // of these, at most alive together
  std::uint64_t remote_frees = 0;      // of the program's: by another thread than allocated the block
  std::uint64_t window = 0;            // operations that a thread may be ahead of the recorded order
  std::uint64_t copies = 1;            // of its threads that are run at once, at most
  std::uint64_t crossing_frees = 0;    // done by the copy before that of the block
  bool thread_times = false;           // whether the journal says when threads begin and end

  // A pass: each of these is one operation.
  std::uint64_t allocations = 0;  // callocs included
  std::uint64_t callocs = 0;
  std::uint64_t deallocations = 0;
  std::uint64_t reallocations = 0;
  std::uint64_t creations = 0;     // of regions
  std::uint64_t clears = 0;        // of regions
  std::uint64_t destructions = 0;  // of regions, each by itself

  std::uint64_t total_bytes = 0;  // requested by allocations and reallocations
  std::uint64_t max_live_bytes = 0;
  std::uint64_t max_live_objects = 0;
  std::uint64_t max_live_regions = 0;
  std::uint64_t max_live_op = 0;  // index of the op after which max_live_bytes are first alive

  // What was repaired or left out.
  std::uint64_t inversions = 0;       // an address came back before its free was seen
  std::uint64_t unmatched_frees = 0;  // of blocks whose allocation is not in the journal
  std::uint64_t never_freed = 0;      // blocks freed at the end of a pass
  std::uint64_t failed = 0;           // allocations that returned null
  std::uint64_t impossible = 0;       // of sizes or alignments that no address space has room for
  std::uint64_t region_events = 0;
  std::uint64_t moved_regions = 0;        // between parents: roots from the start
  std::uint64_t circular_moves = 0;       // into what is inside the region: left out
  std::uint64_t never_ended_regions = 0;  // destroyed at the end of a pass

  // Layout.
  std::uint64_t ops = 0;           // entries
  std::uint64_t recorded_ops = 0;  // of these: without the ends that the program left out, which come last
  std::uint64_t slots = 0;         // of blocks
  std::uint64_t region_slots = 0;
  std::uint64_t places_bytes = 0;  // memory the places lie in
  std::uint64_t max_align = 1;     // strictest alignment asked for
  std::uint64_t marks = 0;         // of a trace of blocks

  [[nodiscard]] std::uint64_t operations() const noexcept {
    return allocations + deallocations + reallocations + creations + clears + destructions;
  }
};

class trace {
 public:
  explicit trace(harness::shared_file file) noexcept : file_(std::move(file)) {}

  [[nodiscard]] const trace_facts& facts() const noexcept {
    return *static_cast<const trace_facts*>(file_.data());
  }
  // Of a trace of blocks.
  [[nodiscard]] std::span<const op> ops() const noexcept {
    return {static_cast<const op*>(at(ops_offset)), facts().ops};
  }
  // Of a trace of blocks, without the frees at the end of a pass: what the program did.
  [[nodiscard]] std::span<const op> recorded_ops() const noexcept {
    return ops().first(facts().ops - facts().never_freed);
  }
  // Of a trace of regions.
  [[nodiscard]] std::span<const region_op> region_ops() const noexcept {
    return {static_cast<const region_op*>(at(ops_offset)), facts().ops};
  }
  // Of a trace of threads: those of its threads one after the other, each with one behind its last.
  [[nodiscard]] std::span<const thread_step> steps() const noexcept {
    return {static_cast<const thread_step*>(at(ops_offset)), facts().ops};
  }
  // Of a trace of threads, in the order of their beginnings.
  [[nodiscard]] std::span<const thread_part> threads() const noexcept {
    return {reinterpret_cast<const thread_part*>(places().data() + places().size()),
            facts().threads_replayed};
  }
  // Offsets from an address aligned to max_align, below places_bytes.
  [[nodiscard]] std::span<const std::uint64_t> places() const noexcept {
    return {static_cast<const std::uint64_t*>(at(places_offset(facts().ops, op_size(facts().of)))),
            facts().allocations};
  }
  // Of a trace of blocks, by op; the first is of op 0.
  [[nodiscard]] std::span<const event_mark> marks() const noexcept {
    return {reinterpret_cast<const event_mark*>(places().data() + places().size()), facts().marks};
  }
  // Of a part, from heap 1 on.
  [[nodiscard]] std::span<const heap_demand> heaps() const noexcept {
    const void* const first = facts().of == subject::threads
                                  ? static_cast<const void*>(threads().data() + threads().size())
                                  : marks().data() + marks().size();
    return {static_cast<const heap_demand*>(first), facts().part.heaps};
  }
  [[nodiscard]] int descriptor() const noexcept { return file_.descriptor(); }

  static constexpr std::size_t ops_offset = 512;
  static constexpr std::size_t op_size(subject of) noexcept {
    return of == subject::threads ? sizeof(thread_step) : sizeof(op);
  }
  static constexpr std::size_t places_offset(std::size_t ops, std::size_t size) noexcept {
    return ops_offset + ops * size;
  }
  static_assert(sizeof(trace_facts) <= ops_offset);
  static_assert(sizeof(op) == sizeof(region_op));

 private:
  [[nodiscard]] const void* at(std::size_t offset) const noexcept {
    return static_cast<const std::byte*>(file_.data()) + offset;
  }

  harness::shared_file file_;
};

}  // namespace mallard::replay
