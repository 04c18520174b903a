// burst_check: bursts of blocks, and what must hold after them.
//
// A burst tells no received sizes: the caller may use max(size, sizeof(void*)) bytes of each block.
// What the heap counts for them follows from its own figures before and after; where other threads change
// those, from a single block of that size.
#pragma once

#include <algorithm>
#include <cstdint>

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
  if (s.shared()) {
    if (!s.allocate(usable, align)) return false;
    single = s[s.live() - 1].granted;
  }
  std::byte already[sizeof(void*)];
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
  const std::size_t granted = s.shared() ? single : counted / count;
  while (!out.empty() && !s.broken()) s.adopt({out.pop_front(), usable}, usable, align, granted);
  return true;
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

}  // namespace mallard::model
