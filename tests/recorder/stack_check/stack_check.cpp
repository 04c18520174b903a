// Compares one stack in a thousand with what libunwind finds at the same call, inside the recorded program.
//
// libunwind starts in here; its frames up to the entry point of the recorder are taken off. Every process
// appends to the file that MALLARD_STACK_CHECK names: a line for each stack that differs, and at its end one
// that says how many were compared. With MALLARD_STACK_CHECK_DROP every recorded stack lacks its outermost
// frame here, so that a comparison that still succeeds is none.
#include "recorder/preload/event/call_site.hpp"

#define UNW_LOCAL_ONLY
#include <libunwind.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>

#include "recorder/preload/state/recorder_state.hpp"

namespace mallard::recorder {
namespace {

constexpr std::uint32_t one_in = 1000;
constexpr unsigned most = 4 * deepest_stack;  // frames

std::atomic<std::uint64_t> compared{0};
std::atomic<std::uint64_t> equal{0};
thread_local std::uint32_t calls = 0;

const char* file_name() noexcept {
  static const char* const name = getenv("MALLARD_STACK_CHECK");
  return name;
}

bool drops_a_frame() noexcept {
  static const bool drops = getenv("MALLARD_STACK_CHECK_DROP") != nullptr;
  return drops;
}

void append_line(const char* line, int length) noexcept {
  if (file_name() == nullptr) return;
  FILE* file = fopen(file_name(), "a");
  if (file == nullptr) return;
  fwrite(line, 1, static_cast<std::size_t>(length), file);
  fclose(file);
}

[[gnu::destructor]] void report() {
  char line[128];
  append_line(line, snprintf(line, sizeof line, "%d compared %lu equal %lu\n", getpid(), compared.load(),
                             equal.load()));
}

void report_difference(const std::uint64_t* recorded, unsigned recorded_depth, const std::uint64_t* found,
                       unsigned found_depth) noexcept {
  char line[4096];
  int length = snprintf(line, sizeof line, "%d recorded %u found %u:", getpid(), recorded_depth, found_depth);
  for (unsigned i = 0; (i < recorded_depth || i < found_depth) && length < 3900; ++i)
    length += snprintf(line + length, sizeof line - static_cast<std::size_t>(length), " %lx%s%lx",
                       i < recorded_depth ? recorded[i] : 0,
                       i < recorded_depth && i < found_depth && recorded[i] == found[i] ? "=" : "|",
                       i < found_depth ? found[i] : 0);
  line[length++] = '\n';
  append_line(line, length);
}

}  // namespace

void check_stack(const walk_start& start, std::uint32_t context) noexcept {
  if (++calls % one_in != 0) return;
  static thread_local std::uint64_t recorded[most];
  unsigned recorded_depth = 0;
  for (std::uint32_t c = context; c != 0 && recorded_depth < most; c = context_at(c).parent)
    recorded[recorded_depth++] = context_at(c).place;
  if (drops_a_frame() && recorded_depth != 0) --recorded_depth;

  static thread_local std::uint64_t found[most];
  unsigned found_depth = 0;
  bool inside = true;  // in the recorder's own frames
  unw_context_t here;
  unw_cursor_t cursor;
  unw_getcontext(&here);
  unw_init_local(&cursor, &here);
  const unsigned deepest = state.depth != 0 ? state.depth : most;
  while (found_depth < deepest && unw_step(&cursor) > 0) {
    unw_word_t pc = 0;
    unw_word_t sp = 0;
    unw_get_reg(&cursor, UNW_REG_IP, &pc);
    unw_get_reg(&cursor, UNW_REG_SP, &sp);
    if (inside && pc == start.return_address && sp == start.sp) inside = false;
    if (!inside) found[found_depth++] = pc;
  }
  if (found_depth > recorded_depth && recorded_depth >= deepest_stack && !drops_a_frame())
    found_depth = recorded_depth;  // the outer frames of a deeper stack may be missing
  bool same = recorded_depth == found_depth;
  for (unsigned i = 0; same && i < found_depth; ++i) same = recorded[i] == found[i];
  compared.fetch_add(1);
  if (same)
    equal.fetch_add(1);
  else
    report_difference(recorded, recorded_depth, found, found_depth);
}

}  // namespace mallard::recorder
