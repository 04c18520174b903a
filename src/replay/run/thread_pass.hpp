// thread_pass: drives an allocator through a trace of threads. This is what is measured.
//
//     conductor   begins and joins threads in the recorded order
//     thread      waits for what its step needs --> allocator --> slots[slot] --> publishes the next order
//
// The recorded thread that lives all along is the worker's own, as it is the program's. A thread ends for
// good when it has done its steps, so that a malloc flushes and adopts its caches as in the program. Where a
// step waits stands in it (trace/scheduler.hpp); a step that need not wait costs a comparison for each thing
// it may wait for. Slots are plain memory: a step's publishing orders its slot before whatever waits for it.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <span>

#include "harness/mapping.hpp"
#include "mallard/core/attributes.hpp"
#include "replay/run/pace.hpp"
#include "replay/run/pass.hpp"
#include "replay/trace/op.hpp"
#include "replay/trace/trace.hpp"

namespace mallard::replay {

// An allocator that several threads use at once.
template <class C>
concept thread_allocator = block_allocator<C>;

// Why a pass did not complete.
enum class pass_end : std::uint8_t { done, refused, no_thread };

struct pass_result {
  pass_end end = pass_end::done;
  std::uint32_t stopped_at = 0;  // order of the step that could not be served
  waiting waits;
};

// What passes over a trace of threads need beside the allocator: mapped in before there is one.
class thread_room {
 public:
  // A thread of a pass.
  struct member {
    thread_room* room;
    const thread_part* part;
    pthread_t id;
  };

  // For the n-th copy of the threads.
  explicit thread_room(const trace& t, std::uint64_t n = 0);

  // To the beginning of a pass.
  void restart() noexcept;

  // Who uses it from now on; what that is only the pass knows.
  void enter(void* pass) noexcept { pass_ = pass; }
  [[nodiscard]] void* pass() const noexcept { return pass_; }

  // Starts run(m) with the stack of a lane; false if the system has no more threads.
  bool start(member& m, void* (*run)(void*)) noexcept;
  // The same for run(this), on the thread that begins the others or on that of the copy.
  bool start_conductor(void* (*run)(void*)) noexcept;
  bool start_copy(void* (*run)(void*)) noexcept;
  void join_conductor() const noexcept { ::pthread_join(conductor_, nullptr); }
  void join_copy() const noexcept { ::pthread_join(own_, nullptr); }

  [[nodiscard]] const trace& of() const noexcept { return trace_; }
  [[nodiscard]] std::uint64_t copy() const noexcept { return copy_; }
  [[nodiscard]] pace& lanes() noexcept { return lanes_; }
  [[nodiscard]] void** slots() const noexcept { return static_cast<void**>(slots_.data()); }
  [[nodiscard]] std::uint32_t* seen_from(std::uint32_t lane) const noexcept {
    return static_cast<std::uint32_t*>(seen_.data()) + lane * trace_.facts().threads_at_once;
  }
  // In the order of their beginnings, as in the trace, and of their ends.
  [[nodiscard]] std::span<member> members() const noexcept { return members_; }
  [[nodiscard]] std::span<member*> by_end() const noexcept { return by_end_; }
  // Whether the first thread lives all along.
  [[nodiscard]] bool has_main() const noexcept;

 private:
  static constexpr std::size_t stack_bytes = std::size_t{256} << 10;
  static constexpr std::size_t used_stack_bytes = std::size_t{16} << 10;

  void prepare_stacks() const noexcept;
  bool start(pthread_t& id, std::size_t stack, void* (*run)(void*), void* argument) noexcept;

  const trace& trace_;
  std::uint64_t copy_;
  pace lanes_;
  harness::scratch slots_;
  harness::scratch seen_;
  harness::scratch stacks_;  // the conductor's, the copy's, then one a lane
  harness::scratch member_memory_;
  std::span<member> members_;
  harness::scratch by_end_memory_;
  std::span<member*> by_end_;
  void* pass_ = nullptr;
  pthread_t conductor_{};
  pthread_t own_{};
};

// The rooms of several copies of the threads.
class thread_rooms {
 public:
  thread_rooms(const trace& t, std::size_t copies);
  ~thread_rooms();
  thread_rooms(const thread_rooms&) = delete;
  thread_rooms& operator=(const thread_rooms&) = delete;

  [[nodiscard]] std::span<thread_room> rooms() const noexcept { return rooms_; }

 private:
  harness::scratch memory_;
  std::span<thread_room> rooms_;
};

// One thread's way through its steps.
template <touch Touch, thread_allocator C>
class thread_walk {
 public:
  // `own` is of this copy of the threads, `next` of the one some of whose blocks it frees.
  thread_walk(C& c, const thread_part& part, thread_room& own, thread_room& next)
      : c_(c),
        steps_(own.of().steps().data() + part.first_step),
        part_(part),
        own_(own),
        next_(next),
        lanes_(own.lanes()),
        slots_(own.slots()),
        seen_(own.seen_from(part.lane)) {}

  // The step that was refused, or null.
  MALLARD_NOINLINE const thread_step* run() {
    if constexpr (knows_threads<C>) c_.begin_thread(part_, own_.copy());
    const thread_step* const end = steps_ + part_.steps;
    const thread_step* s = steps_;
    try {
      for (; s != end && may_begin(*s); ++s) {
        if (!perform(s)) return s;
        lanes_.publish(part_.lane, s[1].order, waits_);
      }
    } catch (...) {
      return s;
    }
    lanes_.wake_sleepers(part_.lane, waits_);
    if (part_.end_all_before > frontier_) lanes_.wait_for_frontier(part_.end_all_before, waits_);
    return nullptr;
  }

  [[nodiscard]] const waiting& waits() const noexcept { return waits_; }

 private:
  // False if the pass has been stopped.
  MALLARD_INLINE bool may_begin(const thread_step& s) {
    if (s.all_before > frontier_ && !wait_for_frontier(s)) [[unlikely]]
      return false;
    return s.after == no_step || (!s.crosses && seen_[s.after_lane] > s.after) || look_at(s);
  }

  // Half of what it may be ahead by, so that one wait is enough for many steps.
  MALLARD_NOINLINE bool wait_for_frontier(const thread_step& s) {
    frontier_ = lanes_.frontier(s.all_before);
    if (s.all_before <= frontier_) return true;
    lanes_.wake_sleepers(part_.lane, waits_);
    if (!lanes_.wait_for_frontier(s.all_before + (s.order - s.all_before) / 2, waits_)) return false;
    frontier_ = lanes_.frontier();
    return true;
  }

  MALLARD_NOINLINE bool look_at(const thread_step& s) {
    pace& lanes = s.crosses ? next_.lanes() : lanes_;
    const std::uint32_t next = lanes.next_of(s.after_lane);
    if (!s.crosses) seen_[s.after_lane] = next;
    if (next > s.after) return true;
    lanes_.wake_sleepers(part_.lane, waits_);
    return lanes.wait_for_step(s.after_lane, s.after, waits_);
  }

  // False if it was refused.
  MALLARD_INLINE bool perform(const thread_step* s) {
    const op& o = s->what;
    switch (o.kind) {
      case op_kind::allocate:
        return receive(c_.allocate(o), o);
      case op_kind::allocate_aligned:
        return receive(c_.allocate_aligned(o), o);
      case op_kind::allocate_zeroed:
        return receive(allocate_zeroed(c_, o), o);
      case op_kind::deallocate:
        c_.deallocate((s->crosses ? next_.slots() : slots_)[o.slot], o);
        return true;
      case op_kind::reallocate:
        return receive(c_.reallocate(slots_[s[1].what.slot], o, s[1].what), o);
      case op_kind::resized_from:
        return true;  // read with the reallocate in front of it
    }
    return true;
  }

  MALLARD_INLINE bool receive(void* p, const op& o) {
    if (p == nullptr) return false;
    touch_block<Touch>(p, o.size);
    slots_[o.slot] = p;
    return true;
  }

  C& c_;
  const thread_step* steps_;
  const thread_part& part_;
  thread_room& own_;
  thread_room& next_;
  pace& lanes_;
  void** slots_;
  std::uint32_t* seen_;  // what others are known to have done, by lane
  std::uint32_t frontier_ = 0;
  waiting waits_;
};

// Several copies of a trace's threads at once, each in a room of its own.
template <touch Touch, thread_allocator C>
class thread_pass {
 public:
  thread_pass(C& c, std::span<thread_room> rooms) : c_(c), rooms_(rooms) {}

  pass_result run() {
    for (thread_room& room : rooms_) {
      room.restart();
      room.enter(this);
    }
    std::size_t begun = 1;
    while (begun != rooms_.size() && rooms_[begun].start_copy(&run_copy)) ++begun;
    if (begun == rooms_.size())
      go_through(rooms_[0]);
    else
      stop(pass_end::no_thread, 0);
    waiting waits;
    while (--begun != 0) {
      const metered_wait here(waits);
      rooms_[begun].join_copy();
    }
    add(waits);
    return result_;
  }

 private:
  using member = thread_room::member;

  static thread_pass& of(const thread_room& room) { return *static_cast<thread_pass*>(room.pass()); }

  static void* run_copy(void* room) {
    auto& own = *static_cast<thread_room*>(room);
    of(own).go_through(own);
    return nullptr;
  }
  static void* conduct(void* room) {
    auto& own = *static_cast<thread_room*>(room);
    of(own).begin_and_join(own);
    return nullptr;
  }
  static void* walk_one(void* m) {
    const auto& self = *static_cast<const member*>(m);
    of(*self.room).walk(*self.room, *self.part);
    return nullptr;
  }

  void go_through(thread_room& room) {
    if (!room.start_conductor(&conduct)) return stop(pass_end::no_thread, 0);
    if (room.has_main()) walk(room, *room.members().front().part);
    waiting waits;
    {
      const metered_wait here(waits);
      room.join_conductor();
    }
    add(waits);
  }

  void begin_and_join(thread_room& room) {
    waiting waits;
    auto ended = room.by_end().begin();
    std::size_t begun = room.has_main() ? 1 : 0;
    for (; begun != room.members().size(); ++begun) {
      member& m = room.members()[begun];
      for (; ended != room.by_end().end() && (*ended)->part->end <= m.part->begin; ++ended)
        join(**ended, waits);
      if (room.lanes().stopped()) break;  // one of them has left its steps undone
      if (room.lanes().frontier() < m.part->begin_all_before &&
          !room.lanes().wait_for_frontier(m.part->begin_all_before, waits))
        break;
      if (room.start(m, &walk_one)) continue;
      stop(pass_end::no_thread, 0);
      break;
    }
    for (; ended != room.by_end().end(); ++ended)
      if (*ended < room.members().data() + begun) join(**ended, waits);
    add(waits);
  }

  // The first is not joined where it is the copy's own thread.
  static void join(const member& m, waiting& waits) {
    if (m.room->has_main() && &m == m.room->members().data()) return;
    const metered_wait here(waits);
    ::pthread_join(m.id, nullptr);
  }

  void walk(thread_room& room, const thread_part& part) {
    thread_room& next = rooms_[(room.copy() + 1) % rooms_.size()];
    thread_walk<Touch, C> w(c_, part, room, next);
    if (const thread_step* const refused = w.run()) stop(pass_end::refused, refused->order);
    add(w.waits());
  }

  void stop(pass_end why, std::uint32_t order) {
    const std::lock_guard one(mutex_);
    if (result_.end == pass_end::done) result_ = {why, order, result_.waits};
    for (thread_room& room : rooms_) room.lanes().stop();
  }

  void add(const waiting& waits) {
    const std::lock_guard one(mutex_);
    result_.waits += waits;
  }

  C& c_;
  std::span<thread_room> rooms_;
  std::mutex mutex_;  // of the result
  pass_result result_;
};

}  // namespace mallard::replay
