// trace_builder: journal events in, a trace out, in one pass.
//
//     address --flat_table--> slot         free slots: a stack
//
// Pairs every free with its allocation and says what it had to repair:
//   inversion   an address is allocated again before its free was seen (threads log out of order):
//               the old block ends here, and its free, when it comes, is passed over (owed_frees,
//               event_batch.hpp)
//   unmatched   a free, or the old block of a realloc, that the journal never allocated: left out;
//               such a realloc is replayed as an allocation
//   failed      an allocation that returned null: left out
//   region      region events are counted and left out (region_trace_builder.hpp)
// Each op is of the event that was being read when it came about, which marks (trace.hpp) say.
// realloc(p, 0) with a null result is a free. Events of all threads are replayed in journal order; an op
// names its thread, and threads() says where each of them begins and ends. The free of a block that was ended
// by an inversion is its thread's, wherever it comes. A block that was never freed is freed by its own
// thread. Where a part of the program has heaps of its own, an op names the heap that has its block, or had
// it (resized_from), in place of its thread, or, where threads are to be replayed, beside it: heaps(). Cost:
// tens of nanoseconds an event; memory: the trace, and 50 bytes a block alive at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "journal/events/event_batch.hpp"
#include "journal/events/event_source.hpp"
#include "journal/events/flat_table.hpp"
#include "journal/events/metadata.hpp"
#include "replay/trace/op.hpp"
#include "replay/trace/part_routes.hpp"
#include "replay/trace/thread_spans.hpp"
#include "replay/trace/trace.hpp"
#include "replay/trace/trace_writer.hpp"

namespace mallard::replay {

class trace_builder {
 public:
  // Where threads are to be replayed, notes where they are. `routes`: of a part of the program, or null; it
  // must live as long as the builder.
  explicit trace_builder(bool with_threads = false, const part_routes* routes = nullptr)
      : with_threads_(with_threads), routes_(routes) {}

  void add(const journal::event_batch& batch, double ticks_per_second = 1e9);

  // Frees what is still alive, computes the places and hands the trace over; the builder is spent. Throws
  // std::runtime_error where the routes are not of these events.
  [[nodiscard]] trace finish();

  // Where the threads of the events so far are. Precondition: they are noted.
  [[nodiscard]] const thread_spans& threads() const noexcept { return threads_; }

  // By op: whose its block is. Of a part of the program; else empty.
  [[nodiscard]] std::span<const std::uint16_t> heaps() const noexcept { return heaps_; }

 private:
  struct known_address {
    std::uint32_t slot = 0;
    journal::owed_frees owed{};
  };
  struct live_block {
    std::uint64_t size;
    std::uint16_t thread;  // that allocated it
    std::uint8_t align_log2;
    bool alive;
    std::uint16_t heap;
  };

  void expect_block(std::uint64_t address) const;
  void add_event(const journal::event_batch& batch, std::size_t i);
  void allocate(std::uint64_t address, std::uint64_t size, std::uint64_t alignment, bool zeroed);
  void deallocate(std::uint64_t address);
  void reallocate(std::uint64_t old_address, std::uint64_t address, std::uint64_t size);
  void end_before_reuse(std::uint64_t address, known_address& old);
  [[nodiscard]] bool is_owed_free(std::uint64_t address, known_address& found);
  void end_block(std::uint32_t slot);
  std::uint32_t take_slot();
  void count_live(std::uint64_t more, std::uint64_t less);
  void mark_event();
  void emit(std::uint64_t size, std::uint32_t slot, op_kind kind, std::uint8_t align_log2,
            std::uint16_t heap);
  void free_the_rest();
  void find_part(std::uint64_t event_numbers);

  trace_writer<op> ops_;
  trace_facts facts_;
  bool with_threads_;
  thread_spans threads_;
  const part_routes* routes_;
  std::uint16_t thread_ = 0;  // of the event that is added
  std::uint64_t time_ = 0;    // the same, in ticks
  journal::tick_scale clock_{1};
  std::uint16_t heap_ = 0;                                        // that the event allocates from
  std::unordered_multimap<std::uint64_t, std::size_t> owed_ops_;  // by address: ops whose free is to come
  journal::flat_table<std::uint64_t, known_address> addresses_;   // of what is alive
  std::vector<live_block> blocks_;                                // by slot
  std::vector<std::uint32_t> free_slots_;                         // last in, first out
  std::uint64_t live_bytes_ = 0;
  std::uint64_t live_objects_ = 0;
  std::uint64_t event_ = 0;                       // being read
  std::uint64_t next_event_ = ~std::uint64_t{0};  // whose op needs no mark
  std::vector<event_mark> marks_;
  std::vector<std::uint16_t> heaps_;  // by op, of a part
  std::vector<heap_demand> demands_;  // by heap, from 1 on
};

// Reads all of `source` into a trace, `routes` as the builder has them.
[[nodiscard]] trace build_trace(journal::event_source& source, const part_routes* routes = nullptr);

}  // namespace mallard::replay
