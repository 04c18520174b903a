#include "profile/object_stream.hpp"

#include <utility>
#include <vector>

#include "journal/open.hpp"
#include "profile/heap_totals.hpp"
#include "profile/journal_pass.hpp"

namespace mallard::profile {
namespace {

void resize(object_batch& batch, std::size_t rows) {
  for_each_column(batch, [rows](const char*, auto& column) { column.resize(rows); });
}

}  // namespace

void column_writer::add(const object& o) {
  if (filling_.count() == 0) resize(filling_, rows_);
  const std::size_t row = count_++;
  filling_.allocation[row] = o.allocation;
  filling_.free[row] = o.free;
  filling_.previous[row] = o.previous;
  filling_.allocation_time[row] = o.allocation_time;
  filling_.free_time[row] = o.free_time;
  filling_.address[row] = o.address;
  filling_.size[row] = o.size;
  filling_.alignment[row] = o.alignment;
  filling_.between[row] = o.between;
  filling_.allocation_ns[row] = o.allocation_ns;
  filling_.free_ns[row] = o.free_ns;
  filling_.context[row] = o.context;
  filling_.free_context[row] = o.free_context;
  filling_.thread[row] = o.thread;
  filling_.free_thread[row] = o.free_thread;
  filling_.region[row] = o.region;
  filling_.kind[row] = static_cast<std::uint8_t>(o.kind);
  filling_.free_kind[row] = static_cast<std::uint8_t>(o.free_kind);
  filling_.origin[row] = static_cast<std::uint8_t>(o.origin);
  filling_.size_class[row] = static_cast<std::uint8_t>(size_class(o.size));
  if (count_ < rows_) return;
  full_.push_back(std::exchange(filling_, {}));
  count_ = 0;
}

bool column_writer::take(object_batch& to) {
  if (!full_.empty()) {
    to = std::move(full_.front());
    full_.pop_front();
    return true;
  }
  to = std::exchange(filling_, {});
  resize(to, std::exchange(count_, 0));
  return to.count() > 0;
}

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
