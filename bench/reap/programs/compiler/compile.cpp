#include "programs/compiler/compile.hpp"

#include "programs/compiler/emit.hpp"
#include "programs/compiler/fold.hpp"
#include "programs/compiler/liveness.hpp"
#include "programs/compiler/lower.hpp"
#include "programs/compiler/parser.hpp"
#include "programs/compiler/peephole.hpp"
#include "programs/compiler/registers.hpp"
#include "programs/compiler/select.hpp"
#include "programs/memory/objects.hpp"

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

}  // namespace

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

}  // namespace mallard::programs
