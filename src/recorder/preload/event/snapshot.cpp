#include "recorder/preload/event/snapshot.hpp"

#include <atomic>
#include <bit>

#include "journal/spool/ring_record.hpp"
#include "unwind/call_frame_program.hpp"
#include "unwind/eh_frame_table.hpp"
#include "unwind/frame_rule.hpp"

namespace mallard::recorder {

using namespace unwind;
namespace {

// Allocations, all powers of two.
constexpr std::uint64_t window = 1U << 16;
constexpr std::uint64_t farthest = 1U << 21;  // from one window to the next
constexpr std::uint64_t short_window = 1U << 12;
constexpr std::uint64_t step_of_short = 1U << 17;  // from one short window to the next

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

// How to get from a frame of this library to its caller's, by where its code returns to: worked out once.
struct frame_step {
  std::uint64_t cfa_offset = 0;
  std::uint64_t kept_at[snapshot_registers]{};  // from the CFA; 0: the register is unchanged
  bool cfa_from_bp = false;
};

struct known_step {
  std::atomic<std::uintptr_t> pc{0};
  frame_step step{};
};
constexpr std::uintptr_t unused = 0;
constexpr std::uintptr_t being_written = 1;

constinit known_step known_steps[256]{};  // the entry points return to some fifty places

bool find_step(std::uintptr_t pc, frame_step& out) noexcept {
  eh_frame_table table;
  frame_description function;
  frame_row row;
  if (!find_table(pc - 1, table) || !find_description(table, pc - 1, function)) return false;
  if (!find_row(function, pc - 1, row)) return false;
  if (row.cfa != cfa_from::sp && row.cfa != cfa_from::bp) return false;
  out.cfa_from_bp = row.cfa == cfa_from::bp;
  out.cfa_offset = row.cfa_offset;
  const kept_rule rules[snapshot_registers] = {
      row.kept[0], {row.bp.how, row.bp.offset}, row.kept[1], row.kept[2], row.kept[3], row.kept[4]};
  for (unsigned i = 0; i < snapshot_registers; ++i) {
    if (rules[i].how != value_of::memory_at_cfa && rules[i].how != value_of::unchanged) return false;
    out.kept_at[i] = rules[i].how == value_of::unchanged ? 0 : rules[i].offset;
  }
  return true;
}

// Makes the registers those of the caller; false if they are not known.
bool step(registers& at) noexcept {
  known_step& known = known_steps[at.pc * 0x9e3779b97f4a7c15U >> 56];
  frame_step found;
  std::uintptr_t owner = known.pc.load(std::memory_order_acquire);
  if (owner == at.pc) [[likely]] {
    found = known.step;
  } else {
    if (!find_step(at.pc, found)) return false;
    if (owner == unused && known.pc.compare_exchange_strong(owner, being_written)) {
      known.step = found;
      known.pc.store(at.pc, std::memory_order_release);
    }
  }
  const std::uintptr_t cfa = (found.cfa_from_bp ? at.saved[bp] : at.sp) + found.cfa_offset;
  for (unsigned i = 0; i < snapshot_registers; ++i)
    if (found.kept_at[i] != 0) at.saved[i] = word_at(cfa + found.kept_at[i]);
  at.pc = word_at(cfa - sizeof(std::uintptr_t));
  at.sp = cfa;
  return true;
}

// Whether the allocation of this number, from 0, has a snapshot.
bool is_in_window(std::uint64_t number) noexcept {
  if (number % step_of_short < short_window) return true;
  if (number < 2 * window) return number < window;
  const std::uint64_t begin = number < farthest ? std::bit_floor(number) : number & ~(farthest - 1);
  return number - begin < window;
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
  if (self.ring.shared == nullptr || current_spool() == nullptr) return;
  if (!is_in_window(self.caches->allocations++)) return;
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
