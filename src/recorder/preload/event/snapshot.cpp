#include "recorder/preload/event/snapshot.hpp"

#include "journal/spool/ring_record.hpp"
#include "recorder/preload/unwind/call_frame_program.hpp"
#include "recorder/preload/unwind/eh_frame_table.hpp"
#include "recorder/preload/unwind/frame_rule.hpp"

namespace mallard::recorder {
namespace {

constexpr std::uint32_t burst_every = 1U << 16;  // allocations; a power of two
constexpr std::uint32_t burst = 1U << 12;
constexpr unsigned most_frames = 16;  // of this library, between an entry point and here

// Callee-saved, in the order of a snapshot record.
struct registers {
  std::uintptr_t saved[snapshot_registers];
  std::uintptr_t sp;
  std::uintptr_t pc;
};

// As they are in the function that this is inlined into.
MALLARD_INLINE registers registers_here() noexcept {
  registers here;
  __asm__ volatile(
      "movq %%rbx, (%0)\n\tmovq %%rbp, 8(%0)\n\tmovq %%r12, 16(%0)\n\tmovq %%r13, 24(%0)\n\t"
      "movq %%r14, 32(%0)\n\tmovq %%r15, 40(%0)\n\tmovq %%rsp, 48(%0)\n\t"
      "leaq 0(%%rip), %%rax\n\tmovq %%rax, 56(%0)"
      :
      : "r"(&here)
      : "rax", "memory");
  return here;
}

constexpr unsigned bp = 1;  // among the saved ones

// Makes the registers those of the caller; false if they are not known.
bool step(registers& at) noexcept {
  eh_frame_table table;
  frame_description function;
  frame_row row;
  if (!find_table(at.pc - 1, table) || !find_description(table, at.pc - 1, function)) return false;
  if (!find_row(function, at.pc - 1, row)) return false;
  if (row.cfa != cfa_from::sp && row.cfa != cfa_from::bp) return false;
  const std::uintptr_t cfa = (row.cfa == cfa_from::sp ? at.sp : at.saved[bp]) + row.cfa_offset;
  const kept_rule rules[snapshot_registers] = {
      row.kept[0], {row.bp.how, row.bp.offset}, row.kept[1], row.kept[2], row.kept[3], row.kept[4]};
  for (unsigned i = 0; i < snapshot_registers; ++i) {
    if (rules[i].how == value_of::memory_at_cfa)
      at.saved[i] = word_at(cfa + rules[i].offset);
    else if (rules[i].how != value_of::unchanged)
      return false;
  }
  at.pc = word_at(cfa - sizeof(std::uintptr_t));
  at.sp = cfa;
  return true;
}

// Precondition: the ring has room for it.
void write(const registers& caller, const stack_range& stack) noexcept {
  ring_writer& ring = self.ring;
  std::uint64_t at = ring.head;
  const auto append = [&](std::uint64_t word) { ring.words[at++ & ring.mask] = word; };
  append(first_word(snapshot_record, recording_time()));
  for (const std::uintptr_t saved : caller.saved) append(saved);
  for (std::size_t i = 0; i < snapshot_stack_words; ++i) {
    const std::uintptr_t address = caller.sp + i * sizeof(std::uintptr_t);
    append(address < stack.end ? word_at(address) : 0);
  }
  ring.publish(at);
}

}  // namespace

MALLARD_NOINLINE void emit_snapshot(const call_site& site) noexcept {
  if ((self.snapshot_candidates++ & (burst_every - 1)) >= burst) return;
  if (self.ring.shared == nullptr || current_spool() == nullptr) return;
  registers at = registers_here();
  const walk_start start = site.start();
  for (unsigned i = 0; at.sp != start.sp; ++i)
    if (i == most_frames || !step(at)) return;
  const stack_range& stack = stack_around(start);
  if (self.ring.head + snapshot_words <= self.ring.limit) return write(at, stack);
  const ring_access access;
  if (access.ready() && self.ring.shared != nullptr) write(at, stack);
}

}  // namespace mallard::recorder
