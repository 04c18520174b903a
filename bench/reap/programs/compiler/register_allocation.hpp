// register_allocation: where in the code each register holds something that is still wanted, and the register
// of the machine or slot of the frame that it therefore gets.
//
//     blocks end with jumps; wanted(in) = used + (wanted(out) - set), until nothing changes
//     an interval is the smallest range of instructions around all places where a register is wanted
//
//     intervals by their beginnings    1 |-----|          those that have ended give their registers back;
//                                      2    |--------|    where none is free, the one that ends last goes
//                                      3        |--|      to the frame
//
// All of liveness lies in one region, which ends when instructions have been selected, what the scan needs in
// one inside it. Cost: O(passes x blocks x registers / 64) and O(n log n) for n intervals. Seed 002, section
// 4.2.
#pragma once

#include <cstdint>

#include "programs/compiler/lowering.hpp"
#include "programs/memory/region_kinds.hpp"

namespace mallard::programs {

// Of one numbered register. Machine registers count from 0; `home` is one, or -1 - n for the frame's n-th
// slot.
struct interval {
  std::uint32_t number = 0;
  std::uint32_t begin = ~std::uint32_t{0};
  std::uint32_t end = 0;
  std::int32_t home = 0;

  [[nodiscard]] bool is_used() const noexcept { return begin <= end; }
  void reach(std::uint32_t at) noexcept {
    if (at < begin) begin = at;
    if (at > end) end = at;
  }
};

class liveness {
 public:
  liveness(region& around, const code& of);
  liveness(const liveness&) = delete;
  liveness& operator=(const liveness&) = delete;
  ~liveness();

  // By number, from 1 on.
  [[nodiscard]] interval& of(std::uint32_t number) noexcept { return *intervals_[number]; }
  [[nodiscard]] const interval& of(std::uint32_t number) const noexcept { return *intervals_[number]; }
  [[nodiscard]] std::uint32_t registers() const noexcept { return registers_; }

 private:
  struct part {
    std::uint32_t begin = 0;  // its instructions
    std::uint32_t end = 0;
    std::uint32_t label = 0;  // where else it goes
    bool falls_through = true;
    std::uint64_t* used = nullptr;
    std::uint64_t* set = nullptr;
    std::uint64_t* wanted = nullptr;        // at its beginning
    std::uint64_t* wanted_after = nullptr;  // at its end
  };

  void divide(const code& of);
  void begin_part(std::uint32_t at);
  void note_uses(part& p);
  void flow();
  bool flow_through(part& p);
  void measure();

  region here_;
  std::uint32_t registers_;
  std::uint32_t words_;  // of a set of registers
  std::uint32_t size_;
  std::uint32_t labels_;
  const instruction** instructions_;
  std::uint32_t* parts_of_labels_;
  part* parts_;
  std::uint32_t part_count_ = 0;
  interval** intervals_;
};

inline constexpr std::uint32_t machine_registers = 8;

// How many slots of the frame are used. What the scan needs lies in a region inside `around`.
std::uint32_t assign_registers(region& around, liveness& all);

}  // namespace mallard::programs
