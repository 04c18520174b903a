#include "recorder/launcher/collector.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace mallard::recorder {

collector::collector(spool_header* spool, journal::writer& out, module_table& modules)
    : spool_(spool), ring_words_(spool->ring_words), out_(&out), contexts_(out, modules) {}

std::uint64_t collector::collect(std::uint64_t until) {
  const std::uint32_t used = std::min(spool_->rings_used.load(std::memory_order_acquire), max_rings);
  while (rings_.size() < used)
    rings_.emplace_back(spool_, static_cast<std::uint32_t>(rings_.size()), ring_words_);
  turns_.clear();
  for (std::uint32_t i = 0; i < rings_.size(); ++i) {
    rings_[i].look();
    if (!rings_[i].empty() && rings_[i].next_time() <= until) turns_.push_back({rings_[i].next_time(), i});
  }
  std::make_heap(turns_.begin(), turns_.end(), std::greater<>());

  std::uint64_t taken = 0;
  while (!turns_.empty()) {
    std::pop_heap(turns_.begin(), turns_.end(), std::greater<>());
    ring_reader& ring = rings_[turns_.back().ring];
    const std::uint32_t index = turns_.back().ring;
    turns_.pop_back();
    const std::uint64_t others = turns_.empty() ? until : std::min(until, turns_.front().time);
    for (; !ring.empty() && ring.next_time() <= others; ++taken) take(ring);
    ring.give_back();
    if (ring.empty() || ring.next_time() > until) continue;
    turns_.push_back({ring.next_time(), index});
    std::push_heap(turns_.begin(), turns_.end(), std::greater<>());
  }
  return taken;
}

void collector::take(ring_reader& ring) {
  const record what = ring.take();
  if (what.kind == thread_begin || what.kind == thread_end) {
    take_thread_record(ring, what);
    return;
  }
  last_time_ = std::max(last_time_, what.time);
  journal::event e;
  e.kind = static_cast<event_kind>(what.kind);
  e.thread = ring.thread;
  e.context = contexts_.context_of(what.caller);
  e.time = last_time_;
  e.address = what.address;
  e.size = what.size;
  e.alignment = what.alignment;
  e.old_address = what.old_address;
  out_->append(e);
}

void collector::take_thread_record(ring_reader& ring, const record& what) {
  constexpr std::uint64_t most_threads = std::uint64_t{1} << 20;  // more can only be a damaged ring
  const std::uint64_t number = std::min(what.address >> 32, most_threads);
  if (threads_.size() <= number) threads_.resize(number + 1);
  known_thread& thread = threads_[number];
  if (!thread.known) {
    thread.known = true;
    thread.info.system_id = what.address & UINT32_MAX;
    thread.info.start_time = what.time;
    thread.index = out_->add_thread(thread.info);
  }
  thread.ended = thread.ended || what.kind == thread_end;
  if (thread.ended) thread.info.end_time = std::max(thread.info.end_time, what.time);
  ring.thread = thread.index;
}

void collector::finish() {
  for (const known_thread& thread : threads_)
    if (thread.ended) out_->update_thread(thread.index, thread.info);
}

std::uint64_t collector::stalls() const noexcept {
  return std::accumulate(rings_.begin(), rings_.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const ring_reader& r) { return sum + r.stalls(); });
}

std::uint64_t collector::stalled_ticks() const noexcept {
  return std::accumulate(rings_.begin(), rings_.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const ring_reader& r) { return sum + r.stalled_ticks(); });
}

bool collector::damaged() const noexcept {
  return std::any_of(rings_.begin(), rings_.end(), [](const ring_reader& r) { return r.damaged(); });
}

}  // namespace mallard::recorder
