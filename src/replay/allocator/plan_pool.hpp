// plan_pool: a heap of a part as a plan has it: slabs beside the heap of each thread, which owns them.
//
//     lane 0   heap --owns--> [ slabs of pool 1 | slabs of pool 2 ]      a lane has one thread at a time
//     lane 1   heap --owns--> [ slabs of pool 1 |        -        ]      made when first used
//
// Blocks are ended, and returned by other threads, as those of the heaps themselves are
// (heap/segment_heap.hpp). Requests of more than 32 KiB are the thread's heap's own. A trace of one thread
// has one lane. Memory: 2 KiB a pool and thread that uses it, in the harness's own memory, but touched in a
// pass and so counted in what is held.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>

#include "harness/mapping.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/heap/segment_heap.hpp"
#include "mallard/source/process_segments.hpp"
#include "mallard/source/segments.hpp"
#include "replay/allocator/own_heap.hpp"
#include "replay/run/pass.hpp"
#include "replay/trace/trace.hpp"

namespace mallard::replay {

class plan_pool {
  using slabs = segment_heap::slabs;
  using classes = segment_heap::classes;
  struct place {
    alignas(slabs) std::byte bytes[sizeof(slabs)];
    bool is_made;
  };

 public:
  // The heaps of threads, and the places of all pools' slabs.
  class shared {
   public:
    explicit shared(const trace& t)
        : lanes_(std::max<std::size_t>(t.facts().threads_at_once, 1)),
          heap_memory_(lanes_ * sizeof(segment_heap), harness::fill::before_use),
          place_memory_(t.heaps().size() * lanes_ * sizeof(place), harness::fill::at_first_touch),
          heaps_(static_cast<segment_heap*>(heap_memory_.data()), lanes_),
          next_places_(static_cast<place*>(place_memory_.data())) {
      for (segment_heap& h : heaps_) std::construct_at(&h);
    }
    shared(const shared&) = delete;
    shared& operator=(const shared&) = delete;
    ~shared() {
      send_batches();
      std::ranges::destroy(heaps_);
    }

    void begin_thread(const thread_part& part, std::uint64_t) const noexcept { lane_ = part.lane; }

   private:
    friend class plan_pool;

    [[nodiscard]] MALLARD_INLINE segment_heap& own() const noexcept { return heaps_[lane_]; }

    // No heap has blocks left that are to be returned to another.
    void send_batches() const noexcept {
      for (segment_heap& h : heaps_) h.send_batch();
    }

    static inline thread_local std::uint32_t lane_ = 0;  // of the calling thread

    std::size_t lanes_;
    harness::scratch heap_memory_;
    harness::scratch place_memory_;
    std::span<segment_heap> heaps_;  // by lane
    place* next_places_;             // of the next pool's slabs, by lane
  };

  plan_pool(shared& s, const heap_demand&) : shared_(s), places_(s.next_places_, s.lanes_) {
    s.next_places_ += s.lanes_;
  }
  plan_pool(const plan_pool&) = delete;
  plan_pool& operator=(const plan_pool&) = delete;
  ~plan_pool() {
    shared_.send_batches();
    for (place& p : places_)
      if (p.is_made) slabs_in(p).release();
  }

  MALLARD_INLINE void* allocate(const op& o) {
    slabs& mine = own_slabs();
    if (o.size <= slabs::small && o.align() <= classes::step) [[likely]]
      if (void* const p = mine.take_at_hand(o.size); p != nullptr) [[likely]]
        return p;
    return allocate_slow(mine, o);
  }
  MALLARD_INLINE void* allocate_aligned(const op& o) { return allocate(o); }
  MALLARD_INLINE void deallocate(void* p, const op&) { shared_.own().deallocate(p); }
  void* reallocate(void* p, const op& to, const op& from) {
    return resized_in_place(shared_.own(), p, to, from) ? p : move_block(*this, p, to, from);
  }
  void end_pass() {}

 private:
  static slabs& slabs_in(place& p) noexcept { return *std::launder(reinterpret_cast<slabs*>(p.bytes)); }

  MALLARD_INLINE slabs& own_slabs() noexcept {
    place& p = places_[shared::lane_];
    if (!p.is_made) [[unlikely]]
      make(p);
    return slabs_in(p);
  }
  MALLARD_NOINLINE void make(place& p) noexcept {
    std::construct_at(reinterpret_cast<slabs*>(p.bytes), process_segments(), &shared_.own(), false);
    p.is_made = true;
  }

  MALLARD_NOINLINE void* allocate_slow(slabs& mine, const op& o) noexcept {
    segment_heap& heap = shared_.own();
    if (o.size > classes::largest || o.align() > classes::largest)
      return heap.allocate(o.size, o.align()).data;
    return heap.allocate_from(mine, classes::index(o.size, o.align()));
  }

  shared& shared_;
  std::span<place> places_;
};

}  // namespace mallard::replay
