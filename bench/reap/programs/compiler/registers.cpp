#include "programs/compiler/registers.hpp"

#include <algorithm>

#include "programs/memory/objects.hpp"

namespace mallard::programs {

namespace {

// The intervals that have a register at one place of the code, one a register.
class active_intervals {
 public:
  void end_before(std::uint32_t at) noexcept {
    for (interval*& i : of_)
      if (i != nullptr && i->end <= at) i = nullptr;
  }

  // False if all registers are taken.
  bool take(interval& i) noexcept {
    for (std::uint32_t r = 0; r < machine_registers; ++r) {
      if (of_[r] != nullptr) continue;
      of_[r] = &i;
      i.home = static_cast<std::int32_t>(r);
      return true;
    }
    return false;
  }

  [[nodiscard]] interval*& last_to_end() noexcept {
    return *std::max_element(of_, of_ + machine_registers,
                             [](const interval* a, const interval* b) { return a->end < b->end; });
  }

 private:
  interval* of_[machine_registers] = {};
};

}  // namespace

std::uint32_t assign_registers(region& around, liveness& all) {
  region here(around);
  const std::uint32_t room = all.registers();
  interval** const order = make_array<interval*>(here, room);
  std::uint32_t count = 0;
  for (std::uint32_t i = 1; i <= room; ++i)
    if (all.of(i).is_used()) order[count++] = &all.of(i);
  std::sort(order, order + count, [](const interval* a, const interval* b) {
    return a->begin != b->begin ? a->begin < b->begin : a->number < b->number;
  });
  std::uint32_t slots = 0;
  active_intervals active;
  for (interval** i = order; i != order + count; ++i) {
    active.end_before((*i)->begin);
    if (active.take(**i)) continue;
    interval*& last = active.last_to_end();
    interval* spilled = *i;
    if (last->end > spilled->end) {
      spilled->home = last->home;
      std::swap(last, spilled);
    }
    spilled->home = -1 - static_cast<std::int32_t>(slots++);
  }
  drop_array(here, order, room);
  return slots;
}

}  // namespace mallard::programs
