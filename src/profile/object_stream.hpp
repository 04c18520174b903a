// object_stream: the objects of a journal as columns, a batch at a time.
//
//     object_stream objects("run.mlrd");
//     while (objects.next(batch)) { ... }        // objects that have ended; at last, those that live on
//
// One pass over the journal, a piece at each call: a program that frees little fills no batch for long, and
// calls without objects leave room for a progress bar, or for stopping. Memory for the live objects and one
// batch, but for those that end in one event: clearing a huge region fills many batches at once, which are
// handed over by as many calls. Beside the objects it keeps the timeline of the whole program, the moment of
// its peak, a row for each context and one for each region. A caller that wants no more than that can leave
// the objects out: then no batch has any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <vector>

#include "journal/events/event_source.hpp"
#include "journal/events/metadata.hpp"
#include "profile/context_totals.hpp"
#include "profile/pairing.hpp"
#include "profile/region_instances.hpp"
#include "profile/timeline.hpp"
#include "profile/watcher.hpp"

namespace mallard::profile {

// Objects as columns of equal length, ready to be handed over one by one. The meaning of each column is that
// of the member of object with its name.
struct object_batch {
  std::vector<std::uint64_t> allocation, free, previous, allocation_time, free_time, address, size, alignment,
      between;
  std::vector<float> allocation_ns, free_ns;
  std::vector<std::uint32_t> context, free_context, thread, free_thread, region;
  std::vector<std::uint8_t> kind, free_kind, origin, size_class;

  [[nodiscard]] std::size_t count() const noexcept { return allocation.size(); }
};

// Calls visit(name, column) for each column of `batch`.
template <class Batch, class Visit>
void for_each_column(Batch& batch, Visit visit) {
  visit("allocation", batch.allocation);
  visit("free", batch.free);
  visit("previous", batch.previous);
  visit("allocation_time", batch.allocation_time);
  visit("free_time", batch.free_time);
  visit("address", batch.address);
  visit("size", batch.size);
  visit("alignment", batch.alignment);
  visit("between", batch.between);
  visit("allocation_ns", batch.allocation_ns);
  visit("free_ns", batch.free_ns);
  visit("context", batch.context);
  visit("free_context", batch.free_context);
  visit("thread", batch.thread);
  visit("free_thread", batch.free_thread);
  visit("region", batch.region);
  visit("kind", batch.kind);
  visit("free_kind", batch.free_kind);
  visit("origin", batch.origin);
  visit("size_class", batch.size_class);
}

// Objects, as they end, into batches of columns.
//
//     freed, leaked --> | batch | batch | batch being filled
//                         `--> take()
//
// Cost: one store a column.
class column_writer final : public watcher {
 public:
  // `rows` is the length of every batch but the last.
  explicit column_writer(std::size_t rows) : rows_(rows) {}

  void allocated(std::uint32_t /*slot*/, const object& /*o*/) override {}
  void freed(std::uint32_t /*slot*/, const object& o) override { add(o); }
  void leaked(std::uint32_t /*slot*/, const object& o) override { add(o); }

  // Whether a whole batch is there.
  [[nodiscard]] bool full() const noexcept { return !full_.empty(); }

  // Moves the oldest batch into `to`, a shorter one only where there is no other; false if there is none.
  bool take(object_batch& to);

 private:
  void add(const object& o);

  std::size_t rows_;
  object_batch filling_;
  std::size_t count_ = 0;  // rows of filling_ that are used
  std::deque<object_batch> full_;
};

// Known when next() has returned false.
struct stream_totals {
  pairing_counts counts{};
  std::uint64_t end_time = 0;     // ns, of the last event
  std::uint64_t allocations = 0;  // objects begun, of the malloc family
  std::uint64_t bytes = 0;
  std::uint64_t peak_event = 0;  // the first with the most live bytes
  std::uint64_t peak_time = 0;   // ns
  std::uint64_t peak_live_bytes = 0;
  std::uint64_t peak_live_objects = 0;  // at that event
  std::uint64_t end_live_bytes = 0;
  std::uint64_t end_live_objects = 0;
  profile::timeline over_time{};
  std::vector<context_figures> contexts{};  // by index into the journal's contexts
  std::vector<region_instance> regions{};   // by number, the first is 1
};

class object_stream {
 public:
  static constexpr std::size_t most_rows = std::size_t{1} << 18;  // of one batch

  enum class contents { all, totals_only };

  // Throws journal::error.
  explicit object_stream(const std::filesystem::path& path, contents wanted = contents::all);
  explicit object_stream(std::unique_ptr<journal::event_source> source, contents wanted = contents::all);
  ~object_stream();
  object_stream(const object_stream&) = delete;
  object_stream& operator=(const object_stream&) = delete;

  // Reads on for some ms and replaces the contents of `batch` by the next objects: most_rows, fewer at the
  // end, none until that many have ended. False if there are none left. Throws journal::error.
  bool next(object_batch& batch);

  // The share of the journal that has been read, 0..1.
  [[nodiscard]] double progress() const;

  // The scale of all times here, for those that the source has in ticks.
  [[nodiscard]] journal::tick_scale clock() const;

  [[nodiscard]] const stream_totals& totals() const;
  [[nodiscard]] const journal::event_source& source() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace mallard::profile
