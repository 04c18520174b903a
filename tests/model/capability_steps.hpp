// capability_steps: what a heap can do beyond allocate and deallocate, as steps of a random trace.
//
// run() takes each step that the heap is capable of now and then. A step does the thing, tells the
// shadow which blocks ended or changed, and checks what must hold right after it. What outlives a step
// (marks) is kept here.
//
// Resizing in place: contents stay where they were, the block grows around them or loses its end, and nobody
// else is overlapped. As a new block: the old one lives on, intact, until it is ended. Refused: nothing has
// changed. Which of these happens is the heap's choice among the ways of the request.
//
// A burst tells no received sizes: the caller may use max(size, sizeof(void*)) bytes of each block. What the
// heap counts for them follows from its own figures before and after; where other threads change those, from
// what it tells of each, or else from a single block of that size.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <vector>

#include "mallard/core/chain.hpp"
#include "model/random.hpp"
#include "model/shadow.hpp"

namespace mallard::model {

// Whether the i-th block was resized. A new block becomes the youngest, and the old one is ended.
template <class M>
bool resize_and_check(shadow<M>& s, std::size_t i, const resize_request& q) {
  const live_block old = s[i];
  const std::size_t known = q.size == unknown_size ? old.requested : q.size;
  const heap_usage before = s.usage();
  const resize_result result = s.heap().resize(q);
  const auto* data = static_cast<const std::byte*>(result.memory.data);

  if (!result.memory) {
    EXPECT_FALSE(result.reused);
    EXPECT_FALSE(has_way(q.ways & M::heap::ways, resize_way::try_shrink)) << "try_shrink must not fail";
    const heap_usage after = s.usage();  // memory that was kept for later may have gone back in the attempt
    EXPECT_TRUE(after.granted == before.granted && after.carved == before.carved && after.held <= before.held)
        << "a resize that failed changed the heap";
    EXPECT_TRUE(contents::intact(old.data, old.received, old.allocation));
    return false;
  }
  const std::size_t requested = result.memory.size >= q.preferred ? q.preferred : q.limit;
  if (!result.reused) {
    EXPECT_TRUE(has_way(q.ways, resize_way::allocate_new));
    EXPECT_GE(result.memory.size, q.limit);
    s.adopt(result.memory, requested, q.align);
    s.deallocate(i, old.received);
    return true;
  }
  if (has_way(q.ways, resize_way::shrink | resize_way::try_shrink)) {
    EXPECT_EQ(data, old.data);
    EXPECT_LE(result.memory.size, old.granted);
    EXPECT_GE(result.memory.size, q.preferred);
  } else {
    EXPECT_GE(result.memory.size, q.limit);
    EXPECT_LE(data, old.data);
    EXPECT_GE(data + result.memory.size, old.data + known);
    if (data != old.data) {
      EXPECT_TRUE(has_way(q.ways, resize_way::expand_backward));
      EXPECT_EQ(static_cast<std::size_t>(old.data - data) % q.step, 0u) << "moved by a part of a step";
    }
  }
  const std::size_t kept = std::min(old.received, result.memory.size);
  EXPECT_TRUE(contents::intact(old.data, kept, old.allocation)) << "a resize damaged the contents";
  s.replace(i, result.memory, result.memory.size == old.granted ? old.requested : requested);
  return true;
}

// A random resize of a random block, leaning to the youngest: only that can grow in many heaps.
template <class M>
void resize_any(shadow<M>& s, random_source& r) {
  const std::size_t i = r.below(2) == 0 ? s.youngest() : r.below(s.live());
  const live_block& b = s[i];
  resize_request q{};
  q.data = b.data;
  q.size = r.between(b.requested, b.received);
  if (measurable<typename M::heap> && r.below(2) == 0) q.size = unknown_size;
  q.align = b.align;
  if (r.below(3) == 0) {
    q.preferred = r.between(0, b.requested);
    q.limit = r.between(q.preferred, b.received);
    q.ways = r.below(2) == 0 ? resize_way::shrink : resize_way::try_shrink;
  } else {
    q.limit = r.between(b.received, 2 * b.received + 64);
    q.preferred = r.between(q.limit, 2 * q.limit);
    q.ways = static_cast<resize_way>(r.between(1, 7));
    static constexpr std::array<std::size_t, 6> objects = {1, 2, 3, 12, 24, 4096};
    q.step = std::lcm(b.align, objects[r.below(objects.size())]);
  }
  resize_and_check(s, i, q);
}

// Whether `count` blocks were allocated in one burst.
template <class M>
bool allocate_burst(shadow<M>& s, std::size_t count, std::size_t size, std::size_t align,
                    std::size_t contiguous) {
  const std::size_t usable = std::max(size, sizeof(void*));
  std::size_t single = 0;  // what one block of the burst receives
  if (s.shared() && !measurable<typename M::heap>) {
    if (!s.allocate(usable, align)) return false;
    single = s[s.live() - 1].granted;
  }
  alignas(void*) std::byte already[sizeof(void*)];
  chain out;
  out.push_back(already);
  const std::size_t before = s.usage().granted;
  const bool served = s.heap().allocate_burst(out, count, size, align, contiguous);
  EXPECT_EQ(out.pop_front(), already) << "a burst is appended";
  EXPECT_EQ(out.size(), served ? count : 0u);
  const std::size_t counted = s.usage().granted - before;
  if (!served) {
    EXPECT_EQ(counted, 0u) << "a burst that failed left blocks behind";
    return false;
  }
  if (count == 0) return true;
  EXPECT_EQ(counted % count, 0u) << "blocks of one burst differ in size";
  while (!out.empty() && !s.broken()) {
    void* const p = out.pop_front();
    std::size_t granted = s.shared() ? single : counted / count;
    if constexpr (measurable<typename M::heap>) granted = s.heap().usable_size(p);
    s.adopt({p, usable}, usable, align, granted);
  }
  return true;
}

// A burst of sizes tells of no block what it received; such heaps do when asked.
template <class H>
concept tells_bursts_of_sizes = burst_of_sizes<H> && measurable<H>;

// Whether a block for each of `lengths`, counted in `unit` bytes, was allocated in one burst, in their order.
template <class M>
bool allocate_burst_of_sizes(shadow<M>& s, const std::vector<std::size_t>& lengths, std::size_t unit,
                             std::size_t align, std::size_t contiguous) {
  alignas(void*) std::byte already[sizeof(void*)];
  chain out;
  out.push_back(already);
  const std::size_t before = s.usage().granted;
  const bool served = s.heap().allocate_burst(out, lengths.data(), lengths.size(), unit, align, contiguous);
  EXPECT_EQ(out.pop_front(), already) << "a burst is appended";
  EXPECT_EQ(out.size(), served ? lengths.size() : 0u);
  if (!served) {
    EXPECT_EQ(s.usage().granted, before) << "a burst that failed left blocks behind";
    return false;
  }
  for (const std::size_t length : lengths) {
    if (out.empty() || s.broken()) break;
    void* const p = out.pop_front();
    s.adopt({p, s.heap().usable_size(p)}, std::max(length * unit, sizeof(void*)), align);
  }
  return true;
}

// Ends up to `most` blocks, whatever their sizes and however they came, in one burst.
template <class M>
void deallocate_burst_of_sizes(shadow<M>& s, random_source& r, std::size_t most) {
  chain ended;
  for (std::size_t k = s.live(); k-- > 0 && ended.size() < most;) {
    if (s[k].received < sizeof(void*) || !is_aligned(s[k].data, alignof(void*))) continue;
    void* const p = s.forget(k).data;
    r.below(2) == 0 ? ended.push_front(p) : ended.push_back(p);
  }
  s.heap().deallocate_burst(ended);
  EXPECT_TRUE(ended.empty());
}

// Ends up to `most` blocks of the same size and alignment as the i-th in one burst, however they came.
template <class M>
void deallocate_burst(shadow<M>& s, std::size_t i, std::size_t most) {
  const std::size_t size = s[i].requested;
  const std::size_t align = s[i].align;
  chain ended;
  for (std::size_t k = s.live(); k-- > 0 && ended.size() < most;) {
    const live_block& b = s[k];
    if (b.requested == size && b.align == align && b.received >= sizeof(void*) &&
        is_aligned(b.data, alignof(void*)))
      ended.push_front(s.forget(k).data);
  }
  s.heap().deallocate_burst(ended, size, align);
  EXPECT_TRUE(ended.empty());
}

template <class M>
void allocate_or_end_burst(shadow<M>& s, random_source& r) {
  if (s.live() > 0 && r.below(2) == 0) return deallocate_burst(s, r.below(s.live()), r.between(0, 40));
  const std::size_t size = std::min(r.below(4) == 0 ? 48 : r.spread(1, 4096), M::largest_size);
  const std::size_t align = std::min(std::size_t{1} << r.below(8), M::largest_align);
  allocate_burst(s, r.below(24), size, align, r.below(2) * 4096);
}

template <class M>
void allocate_or_end_burst_of_sizes(shadow<M>& s, random_source& r) {
  if (s.live() > 0 && r.below(2) == 0) return deallocate_burst_of_sizes(s, r, r.between(0, 40));
  std::vector<std::size_t> lengths(r.below(24));
  for (std::size_t& length : lengths) length = r.below(100) == 0 ? r.below(4096) : r.below(40);
  allocate_burst_of_sizes(s, lengths, r.between(0, 48), std::size_t{1} << r.below(8), r.below(2) * 4096);
}

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
