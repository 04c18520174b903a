// recorded_region: a region that tells the recorder what happens to it, and counts.
//
//     the program --> recorded_region --> Region
//                          |  create, allocate, free, clear, destroy   (mallard/annotate.h)
//                          +--> tally: objects and bytes, live and in all
//
// Stands beneath a program when it is run by mallard-record, whose journal then holds the region events, or
// with --count. Children end before their parents, so that each region counts its own blocks only.
// Cost: some additions an event without the recorder, with it an event of the journal. Seed 002, section 5.
#pragma once

#include <cstddef>

#include "mallard/annotate.h"
#include "programs/memory/tally.hpp"

namespace mallard::programs {

template <class Region>
class recorded_region {
 public:
  static constexpr bool frees = Region::frees;
  static constexpr bool is_over_malloc = Region::is_over_malloc;
  static constexpr bool is_counting = true;

  recorded_region() { begin(nullptr); }
  explicit recorded_region(recorded_region& parent) : beneath_(parent.beneath_) { begin(&parent); }
  recorded_region(const recorded_region&) = delete;
  recorded_region& operator=(const recorded_region&) = delete;
  ~recorded_region() {
    mallard_region_destroy(this);
    tally::of_process().end(own_);
  }

  [[nodiscard]] void* allocate(std::size_t size, std::size_t align) noexcept {
    void* const p = beneath_.allocate(size, align);
    mallard_region_allocate(this, p, size);
    own_ += {1, size};
    tally::of_process().begin({1, size});
    return p;
  }

  void free(void* p, std::size_t size, std::size_t align) noexcept {
    if constexpr (!frees) return;
    mallard_region_free(this, p);
    own_ -= {1, size};
    tally::of_process().end({1, size});
    beneath_.free(p, size, align);
  }

  void clear() noexcept {
    mallard_region_clear(this);
    tally::of_process().end(own_);
    own_ = {};
    beneath_.clear();
  }

 private:
  void begin(const recorded_region* parent) noexcept {
    mallard_region_create(this, parent);
    tally::of_process().count_region();
  }

  Region beneath_;
  amount own_;
};

// A kind of region that counts for the process's tally.
template <class Region>
concept counting = requires { requires static_cast<bool>(Region::is_counting); };

}  // namespace mallard::programs
