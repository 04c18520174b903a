// burst_check: bursts of blocks, and what must hold after them.
//
// A burst tells no received sizes: the caller may use max(size, sizeof(void*)) bytes of each block.
// What the heap counts for them follows from its own figures before and after; where other threads change
// those, from what it tells of each, or else from a single block of that size.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "mallard/core/chain.hpp"
#include "model/random.hpp"
#include "model/shadow.hpp"

namespace mallard::model {

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

}  // namespace mallard::model
