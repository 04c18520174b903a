// Any bytes at all, read as a module's unwind table: rules or none, never anything else.
//
// The first bytes say which pc and registers to ask for; the rest is .eh_frame_hdr with what follows it.
// Asked about functions that the bytes tell of as well, for a random pc is in none of them.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "unwind/frame_rule.hpp"

namespace mallard::unwind {
namespace {

std::uintptr_t address_of(const void* place) { return reinterpret_cast<std::uintptr_t>(place); }

void read(const std::vector<std::uint8_t>& bytes, std::uint16_t selector) {
  const eh_frame_table table{bytes.data(), bytes.data(), bytes.data() + bytes.size()};
  std::uintptr_t words[32];
  std::fill(std::begin(words), std::end(words), address_of(words) + selector % sizeof words);
  const stack_range stack{address_of(words), address_of(words + 32)};
  for (const std::uintptr_t pc : {std::uintptr_t{selector}, address_of(bytes.data()) + selector}) {
    const frame_rule rule = find_frame_rule(table, pc);
    frame_step step;
    const frame_registers frame{pc, stack.begin + selector % 128, stack.begin + 64, true};
    if (!step_by_expression(table, frame, stack, step)) continue;
    if (step.read_count > frame_step::max_reads || rule.kind() == frame_kind::outermost) std::abort();
    for (unsigned i = 0; i < step.read_count; ++i) {
      if (step.reads[i].address < stack.begin || step.reads[i].address > stack.end - 8) std::abort();
    }
  }
}

}  // namespace
}  // namespace mallard::unwind

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const auto selector = static_cast<std::uint16_t>(data[0] | data[1] << 8);
  mallard::unwind::read({data + 2, data + size}, selector);
  return 0;
}
