// routed<Baseline, Heap>: a part of the program in heaps of its own, and what is around it in the baseline.
//
//     op --heap 0--> Baseline
//       `--heap k--> heaps[k] --inlined--> Heap          one for each heap of the part
//                    heaps[k] ----------> Baseline       routed<Baseline, Baseline>: what the others are
//                                                        measured against, and `none`
//
// All of these perform the whole journal by the same code: a comparison and a look-up, behind which only the
// heap differs. A free reads the first byte of its block, which its allocation has written, so that memory is
// touched in the recorded orders of both. A reallocation that leads from one heap to another moves the block.
// The kernel says what the process holds; the heap objects lie in the harness's own memory, and are counted.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "harness/mapping.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/core/concepts.hpp"
#include "replay/allocator/own_heap.hpp"
#include "replay/run/littering.hpp"
#include "replay/run/pass.hpp"
#include "replay/trace/trace.hpp"

namespace mallard::replay {

// When a heap of the part gives back what it holds: never, as freed memory is reused; as soon as no block of
// it is alive; or with the pass, by clear().
enum class ends : std::uint8_t { never, when_empty, with_pass };

// A heap of ours as a pass calls it. One of a single size is made for the largest block that it is asked for.
template <heap H, ends End>
class part_heap {
 public:
  explicit part_heap(const heap_demand& asked) : heap_(made_for(asked)) {}

  MALLARD_INLINE void* allocate(const op& o) {
    void* const p = heap_.allocate(o.size, o.align()).data;
    if constexpr (End == ends::when_empty) live_ += p != nullptr;
    return p;
  }
  MALLARD_INLINE void* allocate_aligned(const op& o) { return allocate(o); }
  MALLARD_INLINE void deallocate(void* p, const op& o) {
    heap_.deallocate(p, o.size, o.align());
    if constexpr (End == ends::when_empty)
      if (--live_ == 0) heap_.release();
  }
  void* reallocate(void* p, const op& to, const op& from) {
    if constexpr (fixed_size<H>)
      return p;
    else
      return resized_in_place(heap_, p, to, from) ? p : move_block(*this, p, to, from);
  }
  void end_pass() {
    if constexpr (End == ends::with_pass) heap_.clear();
  }

 private:
  static H made_for(const heap_demand& asked) {
    if constexpr (fixed_size<H>)
      return H(asked.largest, asked.align);
    else
      return H();
  }

  H heap_;
  std::size_t live_ = 0;  // blocks, where it ends when there is none
};

// What all heaps of the part share, made before them and from the trace: Heap::shared, or nothing.
template <class Heap>
struct shared_by {
  struct type {
    explicit type(const trace&) {}
  };
};
template <class Heap>
  requires requires { typename Heap::shared; }
struct shared_by<Heap> {
  using type = typename Heap::shared;
};

template <class Baseline, class Heap>
class routed {
  using shared = typename shared_by<Heap>::type;
  static constexpr bool only_baseline = std::same_as<Baseline, Heap>;

 public:
  static constexpr bool starts_warm = replay::starts_warm<Baseline>;

  // Copies: how many of a trace's threads run at once, where the baseline asks for that.
  template <class... Copies>
    requires std::constructible_from<Baseline, const trace&, Copies...>
  explicit routed(const trace& t, Copies... copies)
      : baseline_(t, copies...),
        shared_(t),
        object_memory_(only_baseline ? 0 : t.heaps().size() * sizeof(Heap), harness::fill::before_use),
        table_memory_((t.heaps().size() + 1) * sizeof(Heap*), harness::fill::before_use),
        heaps_(static_cast<Heap**>(table_memory_.data()), t.heaps().size() + 1) {
    for (std::size_t k = 1; k < heaps_.size(); ++k) heaps_[k] = made(k, t.heaps()[k - 1]);
  }
  routed(const routed&) = delete;
  routed& operator=(const routed&) = delete;
  ~routed() {
    if constexpr (!only_baseline)
      for (Heap* const h : heaps_.subspan(1)) std::destroy_at(h);
  }

  void begin_thread(const thread_part& part, std::uint64_t copy)
    requires(knows_threads<Baseline> || knows_threads<shared>)
  {
    if constexpr (knows_threads<Baseline>) baseline_.begin_thread(part, copy);
    if constexpr (knows_threads<shared>) shared_.begin_thread(part, copy);
  }

  MALLARD_INLINE void* allocate(const op& o) {
    return o.heap() == 0 ? baseline_.allocate(o) : heap_of(o).allocate(o);
  }
  void* allocate_aligned(const op& o) {
    return o.heap() == 0 ? baseline_.allocate_aligned(o) : heap_of(o).allocate_aligned(o);
  }
  void* allocate_zeroed(const op& o) {
    return o.heap() == 0 ? replay::allocate_zeroed(baseline_, o) : replay::allocate_zeroed(heap_of(o), o);
  }
  MALLARD_INLINE void deallocate(void* p, const op& o) {
    if (o.size != 0) static_cast<void>(*static_cast<const volatile char*>(p));
    if (o.heap() == 0) return baseline_.deallocate(p, o);
    heap_of(o).deallocate(p, o);
  }
  void* reallocate(void* p, const op& to, const op& from) {
    if (only_baseline || (to.heap() == 0 && from.heap() == 0)) return baseline_.reallocate(p, to, from);
    return to.heap() == from.heap() ? heap_of(to).reallocate(p, to, from) : move_block(*this, p, to, from);
  }
  void end_pass() {
    baseline_.end_pass();
    if constexpr (!only_baseline)
      for (Heap* const h : heaps_.subspan(1)) h->end_pass();
  }

  // Of the objects that the heaps of the part are.
  [[nodiscard]] std::size_t heap_bytes() const {
    return only_baseline ? 0 : (heaps_.size() - 1) * sizeof(Heap);
  }

  [[nodiscard]] std::size_t held() const
    requires counts_held<Baseline>
  {
    return baseline_.held();
  }
  [[nodiscard]] std::size_t max_held() const
    requires counts_held<Baseline>
  {
    return baseline_.max_held();
  }

 private:
  Heap* made(std::size_t k, const heap_demand& asked) {
    if constexpr (only_baseline) {
      return &baseline_;
    } else {
      Heap* const place = static_cast<Heap*>(object_memory_.data()) + (k - 1);
      if constexpr (std::constructible_from<Heap, shared&, const heap_demand&>)
        return std::construct_at(place, shared_, asked);
      else
        return std::construct_at(place, asked);
    }
  }

  // The compiler is not to know that all may be the baseline, and that none is needed then.
  MALLARD_INLINE Heap& heap_of(const op& o) {
    Heap* found = heaps_[o.heap()];
    asm volatile("" : "+r"(found));
    return *found;
  }

  Baseline baseline_;
  shared shared_;
  harness::scratch object_memory_;
  harness::scratch table_memory_;
  std::span<Heap*> heaps_;  // by number; there is none of number 0
};

}  // namespace mallard::replay
