// spool_reader: the records of all rings of a spool, merged by time, as the events of a journal.
//
//     ring 0   . . . .  |  .           until: events up to here are in their rings for certain
//     ring 1      .     |. . . .
//     ring 2  (idle)    |
//
// An event is published before the program learns of its block, so what happened before another event
// is visible before it. A round takes the clock first, then looks at every ring, then merges up to a
// little before that moment: idle threads hold nothing up. An event stamped long before it was
// published (its thread was not running meanwhile) gets the time of its publication, at latest. A free that
// is still being timed is waited for, and all that is later with it, but not for long.
// Invariant: times never fall. O(log rings) an event, and O(1) while one ring is ahead.
//
// The receiver is a class with
//     std::uint32_t add_thread(const thread_info&);   void update_thread(std::uint32_t, const thread_info&);
//     std::uint32_t frame(std::uint32_t parent, std::uint64_t return_address, std::uint64_t stack_offset,
//                         std::uint64_t time);
//         of the first event there
//     std::uint32_t scope(std::uint32_t parent, std::string_view name);
//     void append(const event&);
//     void snapshot(std::uint64_t event, std::uint32_t context, std::span<const std::uint64_t> words);
//         of an event that was appended, by its number from 0, and its context
// whose results are the numbers that events then carry.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "journal/drain/ring_reader.hpp"
#include "journal/drain/spool_contexts.hpp"
#include "journal/events/event_batch.hpp"
#include "journal/events/process_tables.hpp"
#include "mallard/core/attributes.hpp"

namespace mallard::journal {

template <class Receiver>
class spool_reader {
 public:
  // Where reading begins: with the recording, or where another reader has left each ring.
  enum class start : bool { at_beginning, at_tails };

  // `options` are noted before the program runs, which could overwrite the spool's.
  spool_reader(spool_header* spool, const spool_options& options, Receiver& receiver,
               start from = start::at_beginning)
      : spool_(spool),
        options_(options),
        receiver_(&receiver),
        start_(from),
        contexts_(spool, options.contexts) {}

  // Appends all events up to `until` (ticks since recording began) that were visible when called; stops
  // early when a ring has `enough` words that the program cannot use yet, after `most` records, or before a
  // free later than `settled` that is still being timed, unless a ring is nearly full. Returns the number of
  // records.
  std::uint64_t collect(std::uint64_t until, std::uint64_t enough = UINT64_MAX,
                        std::uint64_t most = UINT64_MAX, std::uint64_t settled = UINT64_MAX);

  // Whether a ring has that many words that the program cannot use yet.
  [[nodiscard]] bool holds(std::uint64_t words) const noexcept {
    return std::any_of(rings_.begin(), rings_.end(),
                       [=](const ring_reader& ring) { return ring.words_held() >= words; });
  }

  // Around the writing of a chunk: see the invariants of spool.hpp. `events` is how many events the file
  // will have from here, which tells whether one that is being appended is among them.
  void announce(std::uint64_t size, std::uint64_t next_size, std::uint64_t events) noexcept {
    spool_->next_size.store(UINT64_MAX, std::memory_order_relaxed);
    for (ring_reader& ring : rings_) ring.announce(&ring == appending_ && events > appended_);
    spool_->size.store(size, std::memory_order_release);
    spool_->next_size.store(next_size, std::memory_order_release);
  }
  void give_back() noexcept {
    for (ring_reader& ring : rings_) ring.give_back();
  }

  [[nodiscard]] const std::vector<ring_reader>& rings() const noexcept { return rings_; }
  [[nodiscard]] bool damaged() const noexcept {
    return std::any_of(rings_.begin(), rings_.end(), [](const ring_reader& r) { return r.damaged(); });
  }

 private:
  struct ring_turn {
    std::uint64_t time;
    std::uint32_t ring;
    friend bool operator>(const ring_turn& a, const ring_turn& b) noexcept { return a.time > b.time; }
  };
  struct known_thread {
    bool known = false;
    bool ended = false;
    std::uint32_t index = 0;
    thread_info info;
  };

  void find_rings();
  void receive(ring_reader& ring, record r);
  void receive_other(ring_reader& ring, record r);
  known_thread& thread_of(std::uint64_t word, std::uint64_t time);

  spool_header* spool_;
  spool_options options_;
  Receiver* receiver_;
  start start_;
  spool_contexts contexts_;
  std::vector<ring_reader> rings_;
  std::vector<ring_turn> turns_;  // heap of the rings that have events to merge, the earliest first
  std::unordered_map<std::uint64_t, known_thread> threads_;  // by the number the program gave
  std::uint64_t last_time_ = 0;
  const ring_reader* appending_ = nullptr;  // whose record is being appended right now
  std::uint64_t appended_ = 0;              // events, without that one
};

template <class Receiver>
void spool_reader<Receiver>::find_rings() {
  const std::uint32_t used = std::min(spool_->rings_used.load(std::memory_order_acquire), options_.rings);
  while (rings_.size() < used) {
    const auto index = static_cast<std::uint32_t>(rings_.size());
    if (start_ == start::at_beginning) {
      rings_.emplace_back(spool_, index, options_, 0, 0);
      continue;
    }
    const ring_header& shared = ring_of(spool_, index);
    ring_reader& ring = rings_.emplace_back(spool_, index, options_, shared.tail, shared.tail_thread);
    if (ring.thread_word != 0) ring.thread = thread_of(ring.thread_word, 0).index;
  }
}

template <class Receiver>
std::uint64_t spool_reader<Receiver>::collect(std::uint64_t until, std::uint64_t enough, std::uint64_t most,
                                              std::uint64_t settled) {
  find_rings();
  turns_.clear();
  for (std::uint32_t i = 0; i < rings_.size(); ++i) {
    rings_[i].look();
    if (rings_[i].nearly_full()) settled = UINT64_MAX;
    if (!rings_[i].empty() && rings_[i].next_time() <= until) turns_.push_back({rings_[i].next_time(), i});
  }
  std::make_heap(turns_.begin(), turns_.end(), std::greater<>());

  std::uint64_t taken = 0;
  while (!turns_.empty()) {
    std::pop_heap(turns_.begin(), turns_.end(), std::greater<>());
    const std::uint32_t index = turns_.back().ring;
    ring_reader& ring = rings_[index];
    turns_.pop_back();
    const std::uint64_t others = turns_.empty() ? until : std::min(until, turns_.front().time);
    const std::uint64_t waited = index == 0 ? UINT64_MAX : settled;  // nobody adds a time in the shared ring
    taken += ring.take(others, enough, most - taken, waited, [&](record r) { receive(ring, r); });
    if (ring.words_held() >= enough || taken == most) return taken;
    if (ring.empty() || ring.next_time() > until) continue;
    if (ring.next_time() <= others && ring.awaits_timing(waited)) return taken;
    turns_.push_back({ring.next_time(), index});
    std::push_heap(turns_.begin(), turns_.end(), std::greater<>());
  }
  return taken;
}

template <class Receiver>
MALLARD_INLINE void spool_reader<Receiver>::receive(ring_reader& ring, record r) {
  if (r.kind >= snapshot_record) [[unlikely]] {
    receive_other(ring, r);
    return;
  }
  last_time_ = std::max(last_time_, r.time);
  event e;
  e.kind = static_cast<event_kind>(r.kind);
  e.thread = ring.thread;
  e.context = contexts_.context_of(r.context, r.time, *receiver_);
  e.time = last_time_;
  e.size = r.size;
  e.duration = r.duration;
  if (is_region(e.kind)) {
    e.region = r.subject;
    (e.kind == event_kind::region_create ? e.parent : e.address) = r.extra;
  } else {
    e.address = r.subject;
    (is_reallocation(e.kind) ? e.old_address : e.alignment) = r.extra;
  }
  appending_ = &ring;
  receiver_->append(e);
  ring.last_event = appended_;
  ring.last_context = e.context;
  appending_ = nullptr;
  ++appended_;
}

// By value, so that the record of an event stays in registers. Whatever the receiver writes meanwhile is
// without this record, which is passed afterwards.
template <class Receiver>
void spool_reader<Receiver>::receive_other(ring_reader& ring, record r) {
  if (r.kind == snapshot_record) {
    if (ring.last_event != ring_reader::no_event)
      receiver_->snapshot(ring.last_event, ring.last_context, ring.snapshot(r));
    return;
  }
  known_thread& thread = thread_of(r.subject, r.time);
  thread.ended = thread.ended || r.kind == thread_end;
  if (thread.ended && r.time > thread.info.end_time) {
    thread.info.end_time = r.time;
    receiver_->update_thread(thread.index, thread.info);
  }
  ring.thread_word = r.subject;
  ring.thread = thread.index;
}

template <class Receiver>
auto spool_reader<Receiver>::thread_of(std::uint64_t word, std::uint64_t time) -> known_thread& {
  known_thread& thread = threads_[word >> 32];
  if (!thread.known) {
    thread.known = true;
    thread.info.system_id = word & UINT32_MAX;
    thread.info.start_time = time;
    thread.index = receiver_->add_thread(thread.info);
  }
  return thread;
}

}  // namespace mallard::journal
