// test_resource: a std::pmr::memory_resource for tests that checks every use of its blocks.
//
//     std::pmr::map --> test_resource [ fails the n-th request | canaries, table ] --> new_delete_resource()
//                       statistics(), mismatches(), leaks at its end
//
//     TEST(Orders, ForgetNothing) {
//       mallard::test_resource memory("orders");
//       { orders o(&memory);  o.add(...); }
//       EXPECT_EQ(memory.statistics().blocks.live, 0u);
//     }   // what is still out here is reported with the places where it was allocated
//
// Each deallocate is checked against the allocation: pointer, size, alignment, and the bytes around the
// block. Freed memory is filled and kept for a while, so writes after free are detected too. A mismatch is
// reported and ends the program; or it is reported and counted, or passed to a handler. Any thread may use
// the resource; a handler must not. For debugging: 2 to 5 us per pair, about 400 bytes per block. It needs no
// test framework. Seed 000, section 1 (allocators aid testing) and 4 (bound by an abstract base, AS5, it fits
// under any component).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <mutex>
#include <new>
#include <numeric>

#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/debug/block_table.hpp"
#include "mallard/debug/call_place.hpp"
#include "mallard/debug/guarded.hpp"
#include "mallard/debug/misuse.hpp"
#include "mallard/layer/failing.hpp"
#include "mallard/layer/stats.hpp"
#include "mallard/source/memory_resource_source.hpp"

namespace mallard {

class test_resource : public std::pmr::memory_resource {
 public:
  // Reports contain `name`; it and the upstream must outlive this resource.
  explicit test_resource(const char* name = "test_resource",
                         std::pmr::memory_resource* upstream = std::pmr::new_delete_resource()) noexcept
      : heap_(upstream) {
    guard().table().set_name(name);
  }
  test_resource(const test_resource&) = delete;
  test_resource& operator=(const test_resource&) = delete;

  // Reports writes beside blocks and after free, then live blocks not reported before. A report ends the
  // program, unless it records mismatches or has a handler.
  MALLARD_NOINLINE ~test_resource() override {
    const call_place here = call_place::from(__builtin_return_address(0));
    guard().report_damage(here);
    guard().table().report_leaks(0, here);
    heap_.release();
  }

  [[nodiscard]] const char* name() const noexcept { return guard().table().name(); }

  // --- requests that fail with std::bad_alloc -----------------------------------------------

  // The n-th request from now, counted from 1, fails.
  void fail_at(std::size_t n) noexcept {
    const std::lock_guard lock(mutex_);
    heap_.fail_at(n);
  }

  // The n-th request from now, counted from 1, and all that follow fail.
  void fail_from(std::size_t n) noexcept {
    const std::lock_guard lock(mutex_);
    heap_.fail_from(n);
  }

  void fail_no_more() noexcept {
    const std::lock_guard lock(mutex_);
    heap_.fail_no_more();
  }

  // Requests since the last of these calls, failed ones included.
  [[nodiscard]] std::size_t requests() const noexcept {
    const std::lock_guard lock(mutex_);
    return heap_.requests();
  }

  // --- what was seen ------------------------------------------------------------------------

  // Requested and received bytes are the same here, and exact.
  [[nodiscard]] heap_statistics statistics() const noexcept {
    const std::lock_guard lock(mutex_);
    const counters blocks = guard().table().blocks();
    const counters bytes = guard().table().bytes();
    return {requests_, requests_ - blocks.total, blocks.total - blocks.live, blocks, bytes, bytes};
  }

  // Reports of this kind, while they are recorded or handled.
  [[nodiscard]] std::size_t mismatches(misuse what) const noexcept {
    const std::lock_guard lock(mutex_);
    return seen_[static_cast<std::size_t>(what)];
  }

  // Reports of all kinds.
  [[nodiscard]] std::size_t mismatches() const noexcept {
    const std::lock_guard lock(mutex_);
    return std::accumulate(seen_.begin(), seen_.end(), std::size_t{0});
  }

  // Looks at the bytes around all blocks, and at those that were freed last; how many were written to.
  MALLARD_NOINLINE std::size_t report_damage() noexcept {
    const call_place now = call_place::from(__builtin_return_address(0));
    const std::lock_guard lock(mutex_);
    return guard().report_damage(now);
  }

  // The number of the latest block, in the order of allocations.
  [[nodiscard]] std::uint64_t last_number() const noexcept {
    const std::lock_guard lock(mutex_);
    return guard().table().last_number();
  }

  // Reports live blocks with a number above `since` as leaks, each once; returns how many.
  // `when` may say what happened before.
  std::size_t report_leaks(std::uint64_t since, const call_place& now, const char* when = nullptr) noexcept {
    const std::lock_guard lock(mutex_);
    return guard().table().report_leaks(since, now, when);
  }

  // --- what happens then --------------------------------------------------------------------

  // A mismatch is printed and counted, and the program goes on. Of leaks the first
  // block_table::printed_leaks are printed, all are counted.
  void record_mismatches() noexcept { on_mismatch(print_some, this); }

  // A mismatch is counted and given to `handler`; null: it is printed, and the program aborts. The handler
  // must neither throw nor use this resource.
  void on_mismatch(misuse_handler handler, void* context) noexcept {
    const std::lock_guard lock(mutex_);
    handler_ = handler;
    context_ = context;
    guard().table().set_handler(handler == nullptr ? nullptr : count, this);
  }

 private:
  void* do_allocate(std::size_t size, std::size_t align) override {
    const std::lock_guard lock(mutex_);
    ++requests_;
    const block b = heap_.allocate(size, align);
    if (!b) throw std::bad_alloc();
    return b.data;
  }

  void do_deallocate(void* p, std::size_t size, std::size_t align) override {
    const std::lock_guard lock(mutex_);
    heap_.deallocate(p, size, align);
  }

  [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  using guard_type = guarded<memory_resource_source>;

  [[nodiscard]] guard_type& guard() noexcept { return heap_.upstream(); }
  [[nodiscard]] const guard_type& guard() const noexcept { return heap_.upstream(); }

  // Under the lock.
  static void count(const misuse_report& r, void* self) noexcept {
    auto& resource = *static_cast<test_resource*>(self);
    ++resource.seen_[static_cast<std::size_t>(r.what)];
    resource.handler_(r, resource.context_);
  }

  // Under the lock, counted already.
  static void print_some(const misuse_report& r, void* self) noexcept {
    const std::size_t leaks =
        static_cast<test_resource*>(self)->seen_[static_cast<std::size_t>(misuse::leaked)];
    if (r.what != misuse::leaked || leaks <= block_table::printed_leaks) return print(r);
    if (leaks == block_table::printed_leaks + 1)
      error_line("mallard: %s: further leaks are counted, not printed", r.heap);
  }

  mutable std::mutex mutex_;
  std::size_t requests_ = 0;
  std::array<std::size_t, misuses> seen_{};
  misuse_handler handler_ = nullptr;
  void* context_ = nullptr;
  failing<guard_type> heap_;
};

}  // namespace mallard
