// partial_lists: slabs with both live and free blocks, by how many are free.
//
//     list 0   less than 1/8 free   --> [slab] <--> [slab] <--             taken first, oldest first
//     list 1   less than 2/8        --> null
//       ...
//     list 7   the rest             --> [slab] <--
//
// Where the fullest slab is filled first, others become empty, and what is allocated together lies together.
// To know the fullest of all would take a tree; one of the fullest list does as well. Of those it is the one
// that came first: more of its blocks are free by now, so that it pays to turn to it. A slab moves only
// where its free blocks cross an eighth: eight times between full and empty, however many blocks it has.
// Invariant: a slab here is looked at again where its free blocks reach the next eighth, or are all.
// Cost: O(1), a dozen instructions; what inspects is O(slabs). Seed 001, chapter 3 ("Managing blocks").
#pragma once

#include <array>
#include <bit>
#include <cstddef>

#include "mallard/core/usage.hpp"
#include "mallard/heap/adaptive_pool/intrusive_list.hpp"
#include "mallard/heap/adaptive_pool/slab.hpp"

namespace mallard {

class partial_lists {
 public:
  static constexpr std::size_t count = 8;

  // A slab with `free` of its blocks free; neither none nor all.
  void put(slab* t, std::size_t free) noexcept {
    const std::size_t list = list_of(free, t->capacity);
    t->look_when(((list + 1) * t->capacity + count - 1) / count, free);
    lists_[list].push_back(t);
    filled_ |= 1u << list;
  }

  // Takes out a slab that is here.
  void erase(slab* t) noexcept {
    const std::size_t list = list_of(t->goal - 1, t->capacity);
    lists_[list].erase(t);
    if (lists_[list].empty()) filled_ &= ~(1u << list);
  }

  // One of the fullest; null where there is none.
  [[nodiscard]] slab* fullest() const noexcept {
    return filled_ == 0 ? nullptr : lists_[static_cast<std::size_t>(std::countr_zero(filled_))].front();
  }

  // Whether a quarter of each slab here is free.
  [[nodiscard]] bool is_much_free() const noexcept { return (filled_ & ((1u << count / 4) - 1)) == 0; }

  // Whether `t`, which is not being filled, is here and nearly as full as the fullest.
  [[nodiscard]] bool is_nearly_fullest(const slab* t) const noexcept {
    if (t->goal == when_full) return false;
    return list_of(t->goal - 1, t->capacity) <= static_cast<std::size_t>(std::countr_zero(filled_)) + 1;
  }

  // A full slab, which is nowhere, is looked at again when one of its blocks is free.
  static constexpr std::uint32_t when_full = 1;

  // Whether so many slabs are here, each where it belongs. `is_listed(t)` tells whether `t` is one of them.
  template <class IsListed>
  [[nodiscard]] violation validate(std::size_t slabs, IsListed is_listed) const noexcept {
    for (std::size_t i = 0; i < count; ++i) {
      if (lists_[i].empty() != ((filled_ >> i & 1) == 0))
        return {"partial_lists: a list is filled unnoticed"};
      const auto belongs = [&](const slab* t) {
        return slabs-- != 0 && is_listed(t) && list_of(t->goal - 1, t->capacity) == i;
      };
      if (violation v = lists_[i].validate(belongs)) return v;
    }
    return slabs == 0 ? violation{} : violation{"partial_lists: a slab with free blocks is on no list"};
  }

 private:
  static std::size_t list_of(std::size_t free, std::size_t capacity) noexcept {
    return free * count / capacity;
  }

  std::array<intrusive_list<slab>, count> lists_{};
  unsigned filled_ = 0;  // a bit a list
};

}  // namespace mallard
