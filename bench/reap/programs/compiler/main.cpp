// compiler [--count] [--shift BYTES] FILE: compiles a program in a language like C to an assembler's text.
//
// All passes over all functions, and the regions that they open and end:
//
//     permanent    types, globals                         until the end
//       scopes     names of a block                       end with their block, while parsing
//     symbols      of one function                        cleared after each function
//       code       three-address instructions             ends once the function's text is written
//       machine    instructions of the machine            ends once they are written
//       liveness   intervals and sets of registers        ends once instructions are selected
//     trees        of one function                        cleared once it is lowered
//
// Seed 002, section 4.2 (region): lcc's areas for what is permanent, of a function, and of a statement.
#include <cstdint>
#include <string_view>

#include "programs/compiler/c_parser.hpp"
#include "programs/compiler/lowering.hpp"
#include "programs/compiler/machine_code.hpp"
#include "programs/compiler/register_allocation.hpp"
#include "programs/compiler/syntax_tree.hpp"
#include "programs/memory/region_kinds.hpp"
#include "programs/memory/run_program.hpp"

namespace mallard::programs {

namespace {

void generate(const function& f, const code& lowered, std::uint32_t frame, region& around, emitter& out) {
  machine_code machine(around);
  {
    liveness live(around, lowered);
    const std::uint32_t slots = assign_registers(around, live);
    selection(live, frame, machine).select(lowered);
    frame += 8 * slots;
  }
  simplify(machine);
  out.write(*f.name, frame, machine);
}

void drop_symbols(region& r, symbol* first) noexcept {
  if (!region::frees) return;
  while (first != nullptr) {
    symbol* const next = first->next;
    drop(r, first);
    first = next;
  }
}

void compile(region& all, std::string_view text) {
  region permanent(all);
  region symbols(all);
  region trees(all);
  parser parsed(permanent, text);
  emitter out;
  for (function f; parsed.next_function(f, symbols, trees); f = {}) {
    f.body = folded(trees, f.body);
    {
      code lowered(symbols);
      lowering lower(lowered);
      lower.lower(f);
      drop_trees(trees, f.body);
      trees.clear();
      generate(f, lowered, lower.frame_size(), symbols, out);
    }
    drop_symbols(symbols, f.symbols);
    symbols.clear();
  }
  out.write_end(parsed.globals());
}

}  // namespace

}  // namespace mallard::programs

int main(int count, char** words) {
  return mallard::programs::run_program(count, words, mallard::programs::compile);
}
