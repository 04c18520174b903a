// object_stream: the objects of a journal as columns, a batch at a time.
//
//     object_stream objects("run.mlrd");
//     while (objects.next(batch)) { ... }        // objects that have ended; at last, those that live on
//
// One pass over the journal, a piece at each call: a program that frees little fills no batch for long, and
// calls without objects leave room for a progress bar, or for stopping. Memory for the live objects and one
// batch, but for those that end in one event: clearing a huge region fills many batches at once, which are
// handed over by as many calls. Beside the objects it keeps the timeline of the whole program, the moment of
// its peak, a row for each context and one for each region. Those who want no more than that can leave the
// objects out: then no batch has any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "journal/events/event_source.hpp"
#include "journal/events/metadata.hpp"
#include "profile/context_totals.hpp"
#include "profile/object_batch.hpp"
#include "profile/pairing.hpp"
#include "profile/region_instances.hpp"
#include "profile/timeline.hpp"

namespace mallard::profile {

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
  // end, none while so many have not ended. False if there are none left. Throws journal::error.
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
