// resize_check: one resize of a live block, and what must hold after it.
//
// In place: contents stay where they were, the block grows around them or loses its end, and nobody
// else is overlapped. As a new block: the old one lives on, intact, until it is ended. Refused:
// nothing has changed. Which of these happens is the heap's choice among the ways of the request.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>

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

}  // namespace mallard::model
