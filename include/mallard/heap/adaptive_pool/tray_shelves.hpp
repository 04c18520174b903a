// tray_shelves: trays with both live and free blocks, by how many are free.
//
//     shelf 0   less than 1/8 free   --> [tray] <--> [tray] <--             taken first, oldest first
//     shelf 1   less than 2/8        --> null
//       ...
//     shelf 7   the rest             --> [tray] <--
//
// Where the fullest tray is filled first, others become empty, and what is allocated together lies together.
// To know the fullest of all would take a tree; one of the fullest shelf does as well. Of those it is the one
// that came first: more of its blocks are free by now, so that it pays to turn to it. A tray moves only
// where its free blocks cross an eighth: eight times between full and empty, however many blocks it has.
// Invariant: a tray here is looked at again where its free blocks reach the next eighth, or are all.
// Cost: O(1), a dozen instructions; what inspects is O(trays). Seed 001, chapter 3 ("Managing blocks").
#pragma once

#include <array>
#include <bit>
#include <cstddef>

#include "mallard/core/usage.hpp"
#include "mallard/heap/adaptive_pool/intrusive_list.hpp"
#include "mallard/heap/adaptive_pool/tray.hpp"

namespace mallard {

class tray_shelves {
 public:
  static constexpr std::size_t count = 8;

  // A tray with `free` of its blocks free; neither none nor all.
  void put(tray* t, std::size_t free) noexcept {
    const std::size_t shelf = shelf_of(free, t->capacity);
    t->look_when(((shelf + 1) * t->capacity + count - 1) / count, free);
    shelves_[shelf].push_back(t);
    filled_ |= 1u << shelf;
  }

  // Takes out a tray that is here.
  void erase(tray* t) noexcept {
    const std::size_t shelf = shelf_of(t->goal - 1, t->capacity);
    shelves_[shelf].erase(t);
    if (shelves_[shelf].empty()) filled_ &= ~(1u << shelf);
  }

  // One of the fullest; null where there is none.
  [[nodiscard]] tray* fullest() const noexcept {
    return filled_ == 0 ? nullptr : shelves_[static_cast<std::size_t>(std::countr_zero(filled_))].front();
  }

  // Whether a quarter of each tray here is free.
  [[nodiscard]] bool is_much_free() const noexcept { return (filled_ & ((1u << count / 4) - 1)) == 0; }

  // Whether `t`, which is not being filled, is here and nearly as full as the fullest.
  [[nodiscard]] bool is_nearly_fullest(const tray* t) const noexcept {
    if (t->goal == when_full) return false;
    return shelf_of(t->goal - 1, t->capacity) <= static_cast<std::size_t>(std::countr_zero(filled_)) + 1;
  }

  // A full tray, which is nowhere, is looked at again when one of its blocks is free.
  static constexpr std::uint32_t when_full = 1;

  // Whether so many trays are here, each where it belongs. `on_shelf(t)` tells whether `t` is one of them.
  template <class OnShelf>
  [[nodiscard]] fault validate(std::size_t trays, OnShelf on_shelf) const noexcept {
    for (std::size_t i = 0; i < count; ++i) {
      if (shelves_[i].empty() != ((filled_ >> i & 1) == 0))
        return {"tray_shelves: a shelf is filled unnoticed"};
      const auto belongs = [&](const tray* t) {
        return trays-- != 0 && on_shelf(t) && shelf_of(t->goal - 1, t->capacity) == i;
      };
      if (fault f = shelves_[i].validate(belongs)) return f;
    }
    return trays == 0 ? fault{} : fault{"tray_shelves: a tray with free blocks is on no shelf"};
  }

 private:
  static std::size_t shelf_of(std::size_t free, std::size_t capacity) noexcept {
    return free * count / capacity;
  }

  std::array<intrusive_list<tray>, count> shelves_{};
  unsigned filled_ = 0;  // a bit a shelf
};

}  // namespace mallard
