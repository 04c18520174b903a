#include "replay/run/run_threads.hpp"

#include <algorithm>
#include <atomic>

#include "mallard/core/align.hpp"
#include "replay/run/check_pass.hpp"

namespace mallard::replay {
namespace {

// An allocator, with every block filled at its allocation and compared at its end.
class pattern_checked {
 public:
  pattern_checked(block_calls c, std::uint64_t copies) : c_(c), copies_(copies) {}

  void begin_thread(const thread_part& part, std::uint64_t copy) {
    c_.begin_thread(part, copy);
    copy_ = copy;
  }
  void* allocate(const op& o) { return received(c_.allocate(o), o); }
  void* allocate_aligned(const op& o) { return received(c_.allocate_aligned(o), o); }
  void* allocate_zeroed(const op& o) {
    void* const p = c_.allocate_zeroed(o);
    if (p != nullptr && !is_zero(p, o.size)) fail("a block of calloc is not zero");
    return received(p, o);
  }
  void deallocate(void* p, const op& o) {
    if (!has_pattern(p, o.size, seed_of(o)))
      fail("contents written at the allocation are damaged at the free");
    c_.deallocate(p, o);
  }
  void* reallocate(void* p, const op& to, const op& from) {
    if (!has_pattern(p, from.size, seed_of(from)))
      fail("contents written at the allocation are damaged at a resize");
    void* const moved = c_.reallocate(p, to, from);
    if (moved != nullptr && !has_pattern(moved, std::min(to.size, from.size), seed_of(from)))
      fail("contents are damaged by a resize");
    return received(moved, to);
  }
  void end_pass() { c_.end_pass(); }

  // Null: nothing was wrong.
  [[nodiscard]] const char* violation() const { return violation_.load(); }

 private:
  // A slot has one block at a time, in each copy of the threads; an op is the first member of its step.
  [[nodiscard]] std::uint64_t seed_of(const op& o) const {
    const bool crosses = reinterpret_cast<const thread_step&>(o).crosses;
    return o.slot * copies_ + (crosses ? (copy_ + 1) % copies_ : copy_) + 1;
  }

  void* received(void* p, const op& o) {
    if (p == nullptr) return nullptr;
    if (!is_aligned(p, o.align())) fail("a block is not aligned as asked");
    write_pattern(p, o.size, seed_of(o));
    return p;
  }
  void fail(const char* what) {
    const char* none = nullptr;
    violation_.compare_exchange_strong(none, what);
  }

  static inline thread_local std::uint64_t copy_ = 0;  // the thread's

  block_calls c_;
  std::uint64_t copies_;
  std::atomic<const char*> violation_ = nullptr;
};

// An allocator, with a count of the bytes alive.
class live_counted {
 public:
  explicit live_counted(block_calls c) : c_(c) {}

  void begin_thread(const thread_part& part, std::uint64_t copy) { c_.begin_thread(part, copy); }
  void* allocate(const op& o) {
    add(o.size);
    return c_.allocate(o);
  }
  void* allocate_aligned(const op& o) {
    add(o.size);
    return c_.allocate_aligned(o);
  }
  void* allocate_zeroed(const op& o) {
    add(o.size);
    return c_.allocate_zeroed(o);
  }
  void deallocate(void* p, const op& o) {
    live_.fetch_sub(o.size);
    c_.deallocate(p, o);
  }
  void* reallocate(void* p, const op& to, const op& from) {
    live_.fetch_sub(from.size);
    add(to.size);
    return c_.reallocate(p, to, from);
  }
  void end_pass() { c_.end_pass(); }

  [[nodiscard]] std::uint64_t max_live() const { return max_.load(); }

 private:
  void add(std::uint64_t size) {
    const std::uint64_t now = live_.fetch_add(size) + size;
    std::uint64_t most = max_.load();
    while (most < now && !max_.compare_exchange_weak(most, now)) continue;
  }

  block_calls c_;
  std::atomic<std::uint64_t> live_ = 0;
  std::atomic<std::uint64_t> max_ = 0;
};

}  // namespace

pass_result checked_pass(block_calls c, std::span<thread_room> rooms, const char*& violation) {
  pattern_checked checked(c, rooms.size());
  const pass_result result = thread_pass<touch::none, pattern_checked>(checked, rooms).run();
  if (checked.violation() != nullptr) violation = checked.violation();
  return result;
}

pass_result weighed_pass(block_calls c, std::span<thread_room> rooms, std::uint64_t& max_live) {
  live_counted counted(c);
  const pass_result result = thread_pass<touch::all, live_counted>(counted, rooms).run();
  if (result.end == pass_end::done) max_live = counted.max_live();
  return result;
}

}  // namespace mallard::replay
