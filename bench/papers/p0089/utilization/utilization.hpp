// Benchmark III: much is allocated in all, little of it is alive at a time.
//
//     [a][b][c][d]  -->  free a, allocate e  -->  free b, allocate f  ...  -->  free one by one
//     2^A bytes             the least recently allocated, until 2^T bytes were allocated
//
// What reuses no memory needs 2^T bytes for it: it is tried all the same, and its row says how far it came
// (the paper's "fail"). Seed 000, section 9.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "common/measured_allocator.hpp"
#include "common/page.hpp"
#include "common/pmr_bindings.hpp"
#include "common/setting.hpp"
#include "common/typed_bindings.hpp"
#include "harness/bytes.hpp"
#include "harness/cpu_clock.hpp"
#include "harness/mapping.hpp"

namespace mallard::bench {

[[nodiscard]] std::span<const measured_allocator> utilization_allocators();

[[nodiscard]] nlohmann::ordered_json group_of(const utilization_setting& asked);

// What its figures are.
[[nodiscard]] nlohmann::ordered_json method_of(const utilization_setting& asked);

// Of what reuses memory.
[[nodiscard]] std::uint64_t bytes_needed(const utilization_setting& asked);

// Why there is no such group, in one line; empty if there is.
[[nodiscard]] std::string fault_of(const utilization_setting& asked);

// measure_utilization: what an allocation and its free cost with one allocator, on a fresh process: the whole
// of it, from the making of the heap to its end, as the paper has it; and the filling to 2^A bytes alone,
// cold.

// Blocks of one size, of which the oldest makes room for the next.
//
//     ring  [e][f][c][d]          count = 6: c is the oldest, and the next one takes its place
//
// Invariant: once filled, place `count % length` has the oldest. Where allocating throws, count() says how
// many blocks there have been, and nothing may be done any more but to end their heap. The ring is memory of
// the harness's own. Cost: a load and a store of the ring a block, beside the heap's.
//
// Life: the life of a binding.
template <class Life>
class rolling_blocks {
 public:
  // The ring's length is a power of two.
  rolling_blocks(Life& life, std::span<void*> ring, std::size_t size)
      : life_(life), ring_(ring), size_(size) {}

  void fill() {
    while (count_ < ring_.size()) add();
  }

  // Replaces the oldest until `total` blocks have been allocated in all. Precondition: filled.
  void turn_over(std::uint64_t total) {
    while (count_ < total) {
      end_oldest(count_);
      add();
    }
  }

  // Frees all, the oldest first. Precondition: filled.
  void drain() {
    for (std::size_t i = 0; i < ring_.size(); ++i) end_oldest(count_ + i);
  }

  [[nodiscard]] std::uint64_t count() const { return count_; }

 private:
  static constexpr std::size_t alignment = alignof(std::max_align_t);

  [[nodiscard]] void*& place(std::uint64_t nth) { return ring_[nth & (ring_.size() - 1)]; }

  void end_oldest(std::uint64_t nth) {
    life_.deallocate(place(nth), size_, alignment);
    part_calls();
  }

  void add() {
    void* const fresh = life_.allocate(size_, alignment);
    touch(fresh);
    place(count_) = fresh;
    ++count_;
  }

  Life& life_;
  std::span<void*> ring_;
  std::size_t size_;
  std::uint64_t count_ = 0;
};

namespace detail {

inline void refuse_for_memory(page& p, std::uint64_t allocated) {
  const utilization_setting& asked = p.asked.utilization;
  p.refuse(harness::work_state::out_of_memory, "memory ran out after " +
                                                   harness::format_bytes(allocated << asked.block) + " of " +
                                                   harness::format_bytes(std::uint64_t{1} << asked.total));
}

// How many blocks there have been: fewer than `total` where memory ran out; `filled` is when 2^A bytes were
// alive. Nothing is said before the heap's end has given memory to say it with.
template <class Binding>
std::uint64_t live_and_roll(Binding& binding, std::span<void*> ring, std::size_t size, std::uint64_t total,
                            std::uint64_t& filled) {
  typename Binding::life life(binding);
  rolling_blocks blocks(life, ring, size);
  try {
    blocks.fill();
    filled = harness::thread_cpu_ns();
    blocks.turn_over(total);
    blocks.drain();
  } catch (const std::bad_alloc&) {  // count() tells
  }
  return blocks.count();
}

}  // namespace detail

// Precondition: fault_of(p.asked.utilization) is empty.
template <class Binding>
void measure_utilization(Binding& binding, page& p) {
  const utilization_setting& asked = p.asked.utilization;
  const std::uint64_t total = std::uint64_t{1} << (asked.total - asked.block);
  const std::size_t active = std::size_t{1} << (asked.active - asked.block);
  const harness::scratch memory(active * sizeof(void*), harness::fill::before_use);
  const std::span ring(static_cast<void**>(memory.data()), active);
  meter taken;
  std::uint64_t filled = 0;
  const std::uint64_t start = harness::thread_cpu_ns();
  const std::size_t size = std::size_t{1} << asked.block;
  const std::uint64_t made = detail::live_and_roll(binding, ring, size, total, filled);
  if (made < total) return detail::refuse_for_memory(p, made);
  const std::uint64_t end = harness::thread_cpu_ns();
  taken.first_is_over();
  p.found[0] = {static_cast<double>(filled - start) / static_cast<double>(active),
                static_cast<double>(end - start) / static_cast<double>(total),
                {}};
  taken.write(p);
  p.state = harness::work_state::done;
}

// The same through std::pmr, compiled where no resource is known.
void measure_utilization(pmr_binding& binding, page& p);

}  // namespace mallard::bench
