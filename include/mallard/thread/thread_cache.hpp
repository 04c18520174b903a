// thread_cache<Lists>: the freed blocks that one thread keeps for one heap, in a list for each size.
//
//     list i    allocated from and freed to:  [b] -> [b] -> [b]        room: blocks it can still take
//               spare, a full batch:          [b] -> [b] -> ... -> [b]
//
// A thread allocates from its own lists and frees to them. A full list becomes the spare; an earlier spare
// leaves the cache as a whole batch. So blocks move between threads in batches of `most`, no list is ever
// walked, and a thread that frees and allocates around a limit moves nothing. A list holds at most two
// batches. A block goes into the cache of the thread that frees it, whichever thread allocated it.
// Invariant: `room` plus the blocks of a list is `most`, and its spare has 0 or `most` blocks; all are 0
// until the list is first used. The caller chooses `most`, the same for all caches of a heap.
// Cost: pop and push a handful of instructions, the rest O(1).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "mallard/core/attributes.hpp"
#include "mallard/core/check.hpp"
#include "mallard/core/intrusive_stack.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/thread/returned_batches.hpp"

namespace mallard {

template <std::size_t Lists>
class thread_cache {
 public:
  // Returns a freed block, or null.
  [[nodiscard]] MALLARD_INLINE void* pop(std::size_t list) noexcept {
    void* const p = freed_[list].pop();
    if (p != nullptr) [[likely]]
      ++room_[list];
    return p;
  }

  // Returns false, and does nothing, if the list is full.
  [[nodiscard]] MALLARD_INLINE bool push(std::size_t list, void* p) noexcept {
    if (--room_[list] < 0) [[unlikely]] {
      room_[list] = 0;
      return false;
    }
    freed_[list].push(p);
    return true;
  }

  // Makes room in a full list. Returns the batch that leaves the cache for that, if any.
  [[nodiscard]] batch make_room(std::size_t list, std::int32_t most) noexcept {
    MALLARD_CHECK(room_[list] == 0);
    const batch leaving = spare(list);
    rest_[list].spare = std::exchange(freed_[list], {});
    rest_[list].most = room_[list] = most;
    return leaving;
  }

  // Returns a freed block, if need be of the spare; null if there is none.
  [[nodiscard]] void* take(std::size_t list) noexcept {
    if (freed_[list].empty() && !rest_[list].spare.empty()) {
      freed_[list] = std::exchange(rest_[list].spare, {});
      room_[list] = 0;
    }
    return pop(list);
  }

  // Puts at most `most` blocks into an empty list.
  void refill(std::size_t list, batch given, std::int32_t most) noexcept {
    MALLARD_CHECK(freed_[list].empty() && given.count <= static_cast<std::size_t>(most));
    freed_[list] = intrusive_stack(given.first);
    room_[list] = most - static_cast<std::int32_t>(given.count);
    rest_[list].most = most;
  }

  // Blocks to fetch for an empty list: `least` at first, twice as many each time, up to `most`.
  [[nodiscard]] std::int32_t wish(std::size_t list, std::int32_t least, std::int32_t most) noexcept {
    const std::int32_t wished = std::clamp(rest_[list].wish, least, most);
    rest_[list].wish = 2 * wished;
    return wished;
  }

  // Removes all blocks: calls `give(list, batch)` for each batch.
  template <class F>
  void drain(F give) noexcept {
    for (std::size_t i = 0; i < Lists; ++i) {
      if (const batch freed = batch_of(freed_[i], used(i))) give(i, freed);
      if (const batch full = spare(i)) give(i, full);
    }
    *this = {};
  }

  // Blocks of a list.
  [[nodiscard]] std::size_t count(std::size_t list) const noexcept { return used(list) + spare(list).count; }

  // Calls f(block) for each block of a list.
  template <class F>
  void each(std::size_t list, F f) const noexcept {
    for (const intrusive_stack* stack : {&freed_[list], &rest_[list].spare})
      for (const void* p = stack->top(); p != nullptr; p = intrusive_stack::next(p)) f(p);
  }

  // Checks that a list has as many blocks as it counts, and each with `is_block(p)`.
  template <class F>
  [[nodiscard]] violation validate(std::size_t list, F is_block) const noexcept {
    if (room_[list] > rest_[list].most) return {"thread_cache: a list has more room than a batch"};
    std::size_t found = 0;
    for (const intrusive_stack* stack : {&freed_[list], &rest_[list].spare}) {
      for (const void* p = stack->top(); p != nullptr; p = intrusive_stack::next(p)) {
        if (found++ == count(list)) return {"thread_cache: a list has more blocks than it counts"};
        if (!is_block(p)) return {"thread_cache: a cached block is none of its heap's"};
      }
    }
    if (found != count(list)) return {"thread_cache: a list has fewer blocks than it counts"};
    return {};
  }

 private:
  // What allocating and freeing do not read while the list is neither empty nor full.
  struct rest {
    intrusive_stack spare;
    std::int32_t most = 0;
    std::int32_t wish = 0;
  };

  [[nodiscard]] std::size_t used(std::size_t list) const noexcept {
    return static_cast<std::size_t>(rest_[list].most - room_[list]);
  }

  [[nodiscard]] batch spare(std::size_t list) const noexcept {
    return batch_of(rest_[list].spare, static_cast<std::size_t>(rest_[list].most));
  }

  static batch batch_of(const intrusive_stack& stack, std::size_t count) noexcept {
    return stack.empty() ? batch{} : batch{static_cast<chain::node*>(stack.top()), count};
  }

  std::array<intrusive_stack, Lists> freed_{};
  std::array<std::int32_t, Lists> room_{};
  std::array<rest, Lists> rest_{};
};

}  // namespace mallard
