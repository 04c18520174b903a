// region_table<T>: the regions of an allocator, each an object in its slot.
//
//     slot --> [ T ][ T ][    ][ T ]      mapped in before the first pass; the harness's own memory
//
// A region lies where its program would have it, in memory that is there already. The allocator
// makes and ends the objects; the table does neither.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "harness/mapping.hpp"
#include "replay/trace/trace.hpp"

namespace mallard::replay {

template <class T>
class region_table {
 public:
  explicit region_table(const trace& t)
      : memory_(t.facts().region_slots * sizeof(T), harness::fill::before_use),
        slots_(static_cast<T*>(memory_.data())) {}

  [[nodiscard]] T& operator[](std::uint32_t slot) const noexcept { return slots_[slot]; }

  template <class... Args>
  T& make(std::uint32_t slot, Args&&... args) {
    return *std::construct_at(slots_ + slot, std::forward<Args>(args)...);
  }
  void end(std::uint32_t slot) const noexcept { std::destroy_at(slots_ + slot); }

 private:
  harness::scratch memory_;
  T* slots_;
};

}  // namespace mallard::replay
