// partial_lists: the slabs that have both live and free blocks, in lists by their share of free blocks.
//
//     list 0   less than 1/8 free   --> [slab] <--> [slab] <--             taken first, oldest first
//     list 1   less than 2/8        --> null
//       ...
//     list 7   the rest             --> [slab] <--
//
// Filling the fullest slab first empties the others and keeps blocks that are allocated together close
// together. Finding the very fullest slab would need a tree; any slab of the fullest list does as well. The
// oldest in that list is taken, as the most of its blocks are free by now. A slab changes lists only when its
// free blocks cross an eighth: at most eight times between full and empty, however many blocks it has.
// Invariant: a listed slab is examined again when its free blocks reach the next eighth, or when all are
// free. Cost: O(1), a dozen instructions; validation is O(slabs). Seed 001, chapter 3 ("Managing blocks").
#pragma once

#include <array>
#include <bit>
#include <cstddef>

#include "mallard/core/usage.hpp"
#include "mallard/heap/adaptive_pool/slab.hpp"

namespace mallard {

class partial_lists {
 public:
  static constexpr std::size_t count = 8;

  // Inserts a slab with `free` free blocks, neither none nor all.
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

  // A slab of the fullest list; null if there is none.
  [[nodiscard]] slab* fullest() const noexcept {
    return filled_ == 0 ? nullptr : lists_[static_cast<std::size_t>(std::countr_zero(filled_))].front();
  }

  // Whether a quarter of each listed slab is free.
  [[nodiscard]] bool is_much_free() const noexcept { return (filled_ & ((1u << count / 4) - 1)) == 0; }

  // Whether `t`, which is not the current slab, is listed and nearly as full as the fullest.
  [[nodiscard]] bool is_nearly_fullest(const slab* t) const noexcept {
    if (t->goal == when_full) return false;
    return list_of(t->goal - 1, t->capacity) <= static_cast<std::size_t>(std::countr_zero(filled_)) + 1;
  }

  // A full slab, which is in no list, is examined again as soon as one of its blocks is free.
  static constexpr std::uint32_t when_full = 1;

  // Whether exactly `slabs` slabs are listed, each in the right list. `is_listed(t)` says whether `t` is one
  // of them.
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
