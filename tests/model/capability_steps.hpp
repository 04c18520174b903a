// capability_steps: what a heap can do beyond allocate and deallocate, as steps of a random trace.
//
// run() takes each step that the heap is capable of now and then. A step does the thing, tells the
// shadow which blocks ended or changed, and checks what must hold right after it. What outlives a step
// (marks) is kept here.
#pragma once

#include <tuple>
#include <vector>

#include "model/burst_check.hpp"
#include "model/random.hpp"
#include "model/resize_check.hpp"
#include "model/shadow.hpp"

namespace mallard::model {

template <class M>
class capability_steps {
  using heap_type = typename M::heap;

 public:
  void run(shadow<M>& s, random_source& r) {
    if constexpr (releasable<heap_type>)
      if (r.below(60) == 0) release(s);
    if constexpr (clearable<heap_type>)
      if (r.below(40) == 0) clear(s);
    if constexpr (rewindable<heap_type>)
      if (r.below(4) == 0) mark_or_rewind(s, r);
    if constexpr (trimmable<heap_type>)
      if (r.below(8) == 0) std::ignore = s.heap().trim(r.below(2) * r.spread(1, 1 << 16));
    run_among_threads(s, r);
  }

  // Those that leave the blocks of others alone: other threads may be in the heap.
  static void run_among_threads(shadow<M>& s, random_source& r) {
    if constexpr (resizable<heap_type>)
      for (std::size_t i = r.below(4); i > 0 && s.live() > 0; --i) resize_any(s, r);
    if constexpr (burst<heap_type>)
      if (r.below(2) == 0) allocate_or_end_burst(s, r);
    if constexpr (tells_bursts_of_sizes<heap_type>)
      if (r.below(2) == 0) allocate_or_end_burst_of_sizes(s, r);
    if constexpr (freeable<heap_type>)
      for (std::size_t i = r.below(4); i > 0 && s.live() > 0; --i) s.deallocate_by_pointer(r.below(s.live()));
    if constexpr (measurable<heap_type>)
      if (s.live() > 0) check_measure(s, r);
    if constexpr (owning<heap_type>)
      if (s.live() > 0) check_owner(s, r);
    if constexpr (predictable<heap_type>)
      if (s.live() > 0) check_prediction(s, r);
    if constexpr (counted<heap_type>)
      if (s.live() > 0) check_count(s, r);
    if constexpr (thread_caching<heap_type>)
      if (r.below(8) == 0) s.heap().flush();
  }

 private:
  void release(shadow<M>& s) {
    s.heap().release();
    s.forget_since(0);
    marks_.clear();
    EXPECT_EQ(s.usage().held, M::lent_bytes);
  }

  void clear(shadow<M>& s) {
    s.heap().clear();
    s.forget_since(0);
    marks_.clear();
    EXPECT_EQ(s.usage().granted, 0u);
  }

  void mark_or_rewind(shadow<M>& s, random_source& r)
    requires rewindable<heap_type>
  {
    if (marks_.empty() || r.below(3) > 0) {
      marks_.push_back({s.heap().mark(), s.allocations()});
      return;
    }
    const std::size_t chosen = r.below(marks_.size());
    s.heap().rewind(marks_[chosen].place);
    s.forget_since(marks_[chosen].allocation);
    marks_.resize(chosen + 1);  // the mark itself lives on
  }

  static void check_measure(shadow<M>& s, random_source& r) {
    const live_block& b = s[r.below(s.live())];
    EXPECT_EQ(s.heap().usable_size(b.data), b.granted);
  }

  static void check_owner(shadow<M>& s, random_source& r) {
    const live_block& b = s[r.below(s.live())];
    const std::byte elsewhere{};
    EXPECT_TRUE(s.heap().owns(b.data));
    EXPECT_TRUE(s.heap().owns(b.data + b.received - 1));
    EXPECT_FALSE(s.heap().owns(&elsewhere));
  }

  static void check_prediction(shadow<M>& s, random_source& r) {
    const live_block& b = s[r.below(s.live())];
    EXPECT_GE(s.heap().received_size(b.requested, b.align), b.requested);
  }

  static void check_count(shadow<M>& s, random_source& r) {
    const live_block& b = s[r.below(s.live())];
    EXPECT_GE(s.heap().held(), b.granted);
    EXPECT_GE(s.heap().max_held(), b.granted);
  }

  struct no_mark {};
  template <class H>
  struct mark_of {
    using type = no_mark;
  };
  template <rewindable H>
  struct mark_of<H> {
    using type = typename H::mark_type;
  };

  struct mark {
    typename mark_of<heap_type>::type place;
    std::uint64_t allocation;  // of the first block allocated since
  };

  std::vector<mark> marks_;
};

}  // namespace mallard::model
