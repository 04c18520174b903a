#include "profile/object_stream.hpp"

#include <optional>
#include <utility>

#include "profile/column_writer.hpp"
#include "profile/heap_totals.hpp"

namespace mallard::profile {

struct object_stream::state {
  explicit state(std::unique_ptr<journal::event_source> from) : source(std::move(from)) {}

  // Reads on until a batch is full; what is left at the end is less than one.
  void fill();
  void finish();

  std::unique_ptr<journal::event_source> source;
  journal::event_batch events;
  column_writer columns{most_rows};
  heap_totals heap;
  region_ledger regions;
  std::optional<pairing> objects;  // once the clock is known
  bool read = false;               // all events
  bool told = false;               // of all objects
  stream_totals totals;
};

object_stream::object_stream(const std::filesystem::path& path) : object_stream(journal::open(path)) {}
object_stream::object_stream(std::unique_ptr<journal::event_source> source)
    : state_(std::make_unique<state>(std::move(source))) {}
object_stream::~object_stream() = default;

bool object_stream::next(object_batch& batch) {
  state_->fill();
  return state_->columns.take(batch);
}

void object_stream::state::fill() {
  while (!read && !columns.full()) {
    read = !source->next(events);
    if (!objects)
      objects.emplace(std::vector<watcher*>{&columns, &heap, &regions},
                      1e9 / source->about().ticks_per_second);
    if (read)
      finish();
    else
      objects->add(events);
  }
  while (read && !told && !columns.full()) told = !objects->finish(most_rows);
}

void object_stream::state::finish() {
  heap.finish(objects->time());
  totals = {.counts = objects->counts(),
            .end_time = objects->time(),
            .allocations = heap.allocations(),
            .bytes = heap.bytes(),
            .peak_event = heap.peak().event,
            .peak_time = heap.peak().time,
            .peak_live_bytes = heap.peak().live_bytes,
            .peak_live_objects = heap.peak().live_objects,
            .end_live_bytes = heap.alive().live_bytes,
            .end_live_objects = heap.alive().live_objects,
            .over_time = heap.over_time(),
            .regions = regions.rows()};
}

double object_stream::progress() const { return state_->source->progress(); }
const stream_totals& object_stream::totals() const { return state_->totals; }
const journal::event_source& object_stream::source() const { return *state_->source; }

}  // namespace mallard::profile
