// thread_cache<Lists>: the freed blocks that one thread keeps of one heap, a list for each size.
//
//     list i    taken and freed here:  [b] -> [b] -> [b]        room: how many more it takes
//               spare, a full batch:   [b] -> [b] -> ... -> [b]
//
// A thread takes from and frees to its own lists. A list that is full becomes the spare; a spare that is
// there already leaves as a whole batch. So a block moves between threads in batches of `most` blocks,
// nothing walks a list, and freeing and allocating around a limit moves nothing. It holds at most two
// batches a list. Blocks have no affinity: it takes whatever is freed here.
// Invariant: room + the blocks of a list are `most`, and its spare is empty or has `most` blocks; all are
// 0 before the list is first used. `most` is the caller's, the same in all caches of a heap.
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
  // A freed block, or null.
  [[nodiscard]] MALLARD_INLINE void* pop(std::size_t list) noexcept {
    void* const p = freed_[list].pop();
    if (p != nullptr) [[likely]]
      ++room_[list];
    return p;
  }

  // False, and nothing done, where the list is full.
  [[nodiscard]] MALLARD_INLINE bool push(std::size_t list, void* p) noexcept {
    if (--room_[list] < 0) [[unlikely]] {
      room_[list] = 0;
      return false;
    }
    freed_[list].push(p);
    return true;
  }

  // Lets a full list take blocks again; the batch that leaves for it, if any, is the caller's.
  [[nodiscard]] batch make_room(std::size_t list, std::int32_t most) noexcept {
    MALLARD_CHECK(room_[list] == 0);
    const batch leaving = spare(list);
    rest_[list].spare = std::exchange(freed_[list], {});
    rest_[list].most = room_[list] = most;
    return leaving;
  }

  // A freed block, be it of the spare; null where there is none.
  [[nodiscard]] void* take(std::size_t list) noexcept {
    if (freed_[list].empty() && !rest_[list].spare.empty()) {
      freed_[list] = std::exchange(rest_[list].spare, {});
      room_[list] = 0;
    }
    return pop(list);
  }

  // Gives an empty list at most `most` blocks.
  void refill(std::size_t list, batch given, std::int32_t most) noexcept {
    MALLARD_CHECK(freed_[list].empty() && given.count <= static_cast<std::size_t>(most));
    freed_[list] = intrusive_stack(given.first);
    room_[list] = most - static_cast<std::int32_t>(given.count);
    rest_[list].most = most;
  }

  // How many blocks to get for an empty list: `least` at first, twice as many each time.
  [[nodiscard]] std::int32_t wish(std::size_t list, std::int32_t least, std::int32_t most) noexcept {
    const std::int32_t wished = std::clamp(rest_[list].wish, least, most);
    rest_[list].wish = 2 * wished;
    return wished;
  }

  // Gives all blocks away: calls `give(list, batch)` for each batch.
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

  // Whether a list has the blocks it counts; `is_block(p)` judges each.
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
  // What a pair that finds its list neither empty nor full does not look at.
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
