// frame_rule: how to get from a frame to its caller's, packed into 8 bytes; what a walk decodes hot.
//
//     63        32 31         8 7      4 3    0
//     [cfa_offset] [bp_offset] [bp_from] [kind]     offsets signed, bp_offset in words
//
//     CFA = sp or bp + cfa_offset;  the caller:  pc = word at CFA - 8,  sp = CFA,  bp by bp_from
//
// Nearly every frame of a compiled program is of kind sp or bp. Whatever else .eh_frame can say is
// kind `expression` and goes through step_by_expression, which also tells what it read, so that a walk
// can be checked against memory later. No lock, no allocation, no system call: safe in a signal
// handler. find_frame_rule takes about a microsecond; rule_cache.hpp makes it a few ns.
#pragma once

#include <cstdint>

#include "mallard/core/attributes.hpp"
#include "unwind/eh_frame_table.hpp"

namespace mallard::unwind {

enum class frame_kind : std::uint8_t {
  unknown,     // no unwind information: the caller cannot be found
  outermost,   // there is no caller
  sp,          // CFA = sp + cfa_offset
  bp,          // CFA = bp + cfa_offset
  expression,  // anything else
};

enum class bp_from : std::uint8_t {
  unchanged,  // the frame's own
  cfa,        // the word at CFA + bp_offset
  undefined,  // lost
};

struct frame_rule {
  std::uint64_t bits = 0;

  constexpr frame_rule() noexcept = default;
  constexpr explicit frame_rule(std::uint64_t packed) noexcept : bits(packed) {}
  constexpr explicit frame_rule(frame_kind kind) noexcept : bits(static_cast<std::uint64_t>(kind)) {}

  // Precondition: the offset of bp is a multiple of 8 that fits 27 bits.
  constexpr frame_rule(frame_kind kind, std::int32_t cfa_offset, bp_from bp, std::int32_t bp_offset) noexcept
      : bits(std::uint64_t{static_cast<std::uint32_t>(cfa_offset)} << 32 |
             std::uint64_t{static_cast<std::uint32_t>(bp_offset / 8) << 8} |
             static_cast<std::uint64_t>(bp) << 4 | static_cast<std::uint64_t>(kind)) {}

  [[nodiscard]] constexpr frame_kind kind() const noexcept { return static_cast<frame_kind>(bits & 0xf); }
  [[nodiscard]] constexpr bp_from caller_bp() const noexcept { return static_cast<bp_from>(bits >> 4 & 0xf); }

  [[nodiscard]] constexpr std::int64_t cfa_offset() const noexcept {
    return static_cast<std::int64_t>(bits) >> 32;
  }

  [[nodiscard]] constexpr std::int64_t bp_offset() const noexcept {
    return std::int64_t{static_cast<std::int32_t>(static_cast<std::uint32_t>(bits)) >> 8} * 8;
  }

  friend constexpr bool operator==(frame_rule, frame_rule) noexcept = default;
};

// The rule that holds at `pc`: an address inside a function, that is a return address less one, or the
// exact pc below a signal frame.
[[nodiscard]] frame_rule find_frame_rule(std::uintptr_t pc) noexcept;
[[nodiscard]] frame_rule find_frame_rule(const eh_frame_table& table, std::uintptr_t pc) noexcept;

struct frame_registers {
  std::uintptr_t pc;
  std::uintptr_t sp;
  std::uintptr_t bp;
  bool pc_is_exact;         // came out of a signal frame: not a return address
  bool bp_is_lost = false;  // a frame on the way left it undefined
};

// Where a walk starts: right after a call has returned.
struct walk_start {
  std::uintptr_t return_address;
  std::uintptr_t sp;
  std::uintptr_t bp;
};

// The words that may be read: [begin, end).
struct stack_range {
  std::uintptr_t begin;
  std::uintptr_t end;
};

[[nodiscard]] MALLARD_INLINE std::uintptr_t word_at(std::uintptr_t address) noexcept {
  return *reinterpret_cast<const volatile std::uintptr_t*>(address);
}

struct word_read {
  std::uintptr_t address;
  std::uintptr_t value;
};

struct frame_step {
  static constexpr unsigned max_reads = 8;

  frame_registers caller;
  word_read reads[max_reads];  // in order
  unsigned read_count;
};

// The caller's registers, for a frame of any kind; false when there is no caller, or none that can be
// found by reading at most max_reads words of the stack.
[[nodiscard]] bool step_by_expression(const frame_registers& frame, const stack_range& stack,
                                      frame_step& out) noexcept;
[[nodiscard]] bool step_by_expression(const eh_frame_table& table, const frame_registers& frame,
                                      const stack_range& stack, frame_step& out) noexcept;

}  // namespace mallard::unwind
