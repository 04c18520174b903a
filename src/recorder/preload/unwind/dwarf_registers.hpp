// dwarf_registers: what the unwinder knows of the processor, DWARF's numbers of the registers that it
// follows.
//
// A walk needs three registers: where the code is, where the stack is, and the frame pointer that some
// frames find their stack by. All others are skipped over; a frame that needs one of them is unknown: the
// loader's entry for lazy binding, and instructions around the realignment of a stack that make no calls.
// A further processor is a further branch here, and in frame_rule where its calls leave the return
// address elsewhere than on top of the caller's stack.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mallard::recorder {

#if defined(__x86_64__)
inline constexpr std::uint64_t dwarf_bp = 6;
inline constexpr std::uint64_t dwarf_sp = 7;
inline constexpr std::uint64_t dwarf_kept[] = {3, 12, 13, 14, 15};  // rbx, r12 to r15
inline constexpr std::uint64_t dwarf_pc = 16;                       // the return address column
inline constexpr std::int64_t return_address_place = -8;            // from the CFA
#else
#error "the unwinder does not know this processor yet"
#endif

inline constexpr std::size_t kept_registers = sizeof dwarf_kept / sizeof *dwarf_kept;

}  // namespace mallard::recorder
