#include "profile/object_stream.hpp"
#include "journal/open.hpp"

#include <utility>
#include <vector>

#include "profile/heap_totals.hpp"
#include "profile/journal_pass.hpp"
#include "profile/object_batch.hpp"

namespace mallard::profile {

struct object_stream::state {
  state(std::unique_ptr<journal::event_source> from, contents wanted)
      : pass(std::move(from), watchers(wanted)) {}

  std::vector<watcher*> watchers(contents wanted) {
    std::vector<watcher*> all{&heap, &by_context, &regions};
    if (wanted == contents::all) all.push_back(&columns);
    return all;
  }

  void finish();

  column_writer columns{most_rows};
  heap_totals heap;
  context_totals by_context;
  region_instances regions;
  journal_pass pass;  // points to them
  bool finished = false;
  stream_totals totals;
};

object_stream::object_stream(const std::filesystem::path& path, contents wanted)
    : object_stream(journal::open(path), wanted) {}
object_stream::object_stream(std::unique_ptr<journal::event_source> source, contents wanted)
    : state_(std::make_unique<state>(std::move(source), wanted)) {}
object_stream::~object_stream() = default;

bool object_stream::next(object_batch& batch) {
  state& in = *state_;
  if (!in.finished && !in.columns.full() && !in.pass.advance()) in.finish();
  if (in.finished || in.columns.full()) return in.columns.take(batch);
  batch = {};
  return true;
}

void object_stream::state::finish() {
  const pairing& objects = pass.objects();
  finished = true;
  heap.finish(objects.time());
  totals = {.counts = objects.counts(),
            .end_time = objects.time(),
            .allocations = heap.allocations(),
            .bytes = heap.bytes(),
            .peak_event = heap.peak().event,
            .peak_time = heap.peak().time,
            .peak_live_bytes = heap.peak().live_bytes,
            .peak_live_objects = heap.peak().live_objects,
            .end_live_bytes = heap.alive().live_bytes,
            .end_live_objects = heap.alive().live_objects,
            .over_time = heap.over_time(),
            .contexts = by_context.figures(pass.source().tables().contexts.size()),
            .regions = regions.rows()};
}

double object_stream::progress() const { return state_->pass.source().progress(); }
journal::tick_scale object_stream::clock() const { return state_->pass.clock(); }
const stream_totals& object_stream::totals() const { return state_->totals; }
const journal::event_source& object_stream::source() const { return state_->pass.source(); }

}  // namespace mallard::profile
