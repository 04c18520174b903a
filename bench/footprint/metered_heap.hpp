// metered_heap<Heap>: a heap with size classes in a replay, and beside it what it would hold without loss.
//
//     op --> class_peaks --> sum of peaks so far  --+
//        \-> Heap --> source: held so far         --+--> their ratio, at each moment
//
// A journal ends where it ends; the worst moment says what would be held if it had ended there. Moments
// before `settled` bytes are left out: there, a page or two are a large share of nothing.
// Cost: that of the heap, and O(1) an operation.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <new>
#include <span>

#include "harness/allocator/process_footprint.hpp"
#include "harness/mapping.hpp"
#include "replay/run/pass.hpp"
#include "replay/trace/op.hpp"
#include "replay/trace/trace.hpp"

namespace mallard::footprint {

// Bytes of some blocks: as asked for, and as received.
struct tally {
  std::size_t requested = 0;
  std::size_t granted = 0;
};

// class_peaks<Classes>: what a heap with these size classes holds if it loses nothing, and what it rounds up.
//
//     class   48: ####------####      peak 4 blocks  --+
//     class 4096: --##------          peak 2 blocks  --+--> sum()
//     passed through: ---#####-       peak of bytes  --+
//
// Memory of one class never serves another: once a class has had its peak, that is held. What passes through
// to the source goes back to it, so a heap holds less than the sum where its peak is before the others.
// Blocks count as granted, without headers.
// Invariant: each peak is at least what is alive. Cost: O(1) an operation.
template <class Classes>
class class_peaks {
 public:
  // A block begins.
  void begin(std::size_t size, std::size_t align) noexcept {
    const tally block = block_of(size, align);
    pool& p = pools_[pool_of(size, align)];
    add(p.now, block);
    add(live_, block);
    if (p.now.granted > p.peak.granted) {
      sum_.granted += p.now.granted - p.peak.granted;
      sum_.requested += p.now.requested - p.peak.requested;
      p.peak = p.now;
    }
    if (live_.requested > at_max_live_.requested) at_max_live_ = live_;
    passed_through_ += static_cast<std::size_t>(!Classes::serves(size, align));
  }

  void end(std::size_t size, std::size_t align) noexcept {
    const tally block = block_of(size, align);
    subtract(pools_[pool_of(size, align)].now, block);
    subtract(live_, block);
  }

  [[nodiscard]] tally live() const noexcept { return live_; }
  [[nodiscard]] tally at_max_live() const noexcept { return at_max_live_; }

  // Of all peaks together, each with what was requested then.
  [[nodiscard]] tally sum() const noexcept { return sum_; }
  [[nodiscard]] std::size_t passed_peak() const noexcept { return pools_[Classes::count].peak.granted; }

  // Blocks that passed through, ended ones included.
  [[nodiscard]] std::size_t passed_through() const noexcept { return passed_through_; }

  // Classes that ever had a block.
  [[nodiscard]] std::size_t used() const noexcept {
    return static_cast<std::size_t>(
        std::count_if(pools_.begin(), pools_.end() - 1, [](const pool& p) { return p.peak.granted != 0; }));
  }

 private:
  struct pool {
    tally now;
    tally peak;
  };

  static void add(tally& to, const tally& block) noexcept {
    to.requested += block.requested;
    to.granted += block.granted;
  }
  static void subtract(tally& from, const tally& block) noexcept {
    from.requested -= block.requested;
    from.granted -= block.granted;
  }

  // A request for nothing is served as one for a byte.
  static tally block_of(std::size_t size, std::size_t align) noexcept {
    const std::size_t asked = std::max<std::size_t>(size, 1);
    return {asked, Classes::serves(size, align) ? Classes::size(Classes::index(size, align)) : asked};
  }
  static std::size_t pool_of(std::size_t size, std::size_t align) noexcept {
    return Classes::serves(size, align) ? Classes::index(size, align) : Classes::count;
  }

  std::array<pool, Classes::count + 1> pools_{};  // the last one passes through
  tally live_;
  tally at_max_live_;
  tally sum_;
  std::size_t passed_through_ = 0;
};

template <class Heap>
class metered_heap {
  using process = harness::process_footprint<Heap>;

 public:
  static constexpr std::size_t settled = std::size_t{1} << 20;

  void* allocate(const replay::op& o) {
    peaks_.begin(o.size, o.align());
    void* const p = heap_.allocate(o.size, o.align()).data;
    note();
    return p;
  }
  void* allocate_aligned(const replay::op& o) { return allocate(o); }
  void deallocate(void* p, const replay::op& o) {
    peaks_.end(o.size, o.align());
    heap_.deallocate(p, o.size, o.align());
  }
  void* reallocate(void* p, const replay::op& to, const replay::op& from) {
    return replay::move_block(*this, p, to, from);
  }
  void end_pass() {}

  [[nodiscard]] const class_peaks<typename Heap::classes>& peaks() const { return peaks_; }
  [[nodiscard]] std::size_t held() const { return harness::source_of(heap_).held(); }
  [[nodiscard]] std::size_t max_held() const { return harness::source_of(heap_).max_held(); }

  // With what the process's chunk cache keeps of it.
  [[nodiscard]] std::size_t mapped() const { return process::held(heap_); }
  [[nodiscard]] std::size_t max_mapped() const { return process::max_held(heap_); }

  // Most held so far over the sum of the peaks so far, and granted over requested bytes, each where it
  // was the most; 0 if that much was never held.
  [[nodiscard]] double worst_held() const { return worst_held_; }
  [[nodiscard]] double worst_rounding() const { return worst_rounding_; }

 private:
  void note() {
    const tally live = peaks_.live();
    if (live.requested >= settled) worst_rounding_ = std::max(worst_rounding_, ratio(live));
    if (max_held() == noted_) return;  // between rises of what is held, the ratio only falls
    noted_ = max_held();
    const std::size_t sum = peaks_.sum().granted;
    if (sum >= settled)
      worst_held_ = std::max(worst_held_, static_cast<double>(noted_) / static_cast<double>(sum));
  }

  static double ratio(const tally& t) {
    return static_cast<double>(t.granted) / static_cast<double>(t.requested);
  }

  process footprint_;  // before the heap: the cache is empty when it begins
  Heap heap_;
  class_peaks<typename Heap::classes> peaks_;
  std::size_t noted_ = 0;
  double worst_held_ = 0;
  double worst_rounding_ = 0;
};

// A whole trace against an allocator, in this process.
// `slots` has room for a pointer to each of the trace's slots. Throws std::bad_alloc where a request was
// refused.
template <replay::touch Touch, replay::block_allocator Allocator>
void pass(Allocator& c, const replay::trace& t, const harness::scratch& slots) {
  const std::span<const replay::op> ops = t.ops();
  const replay::op* const end = ops.data() + ops.size();
  if (replay::replay_pass<Touch>(c, ops.data(), end, static_cast<void**>(slots.data())) != end)
    throw std::bad_alloc();
}

}  // namespace mallard::footprint
