#include "programs/compiler/peephole.hpp"

namespace mallard::programs {

namespace {

bool does_nothing(const machine_step& s) noexcept { return s.kind == machine_kind::move && s.a == s.d; }

bool never_goes_on(const machine_step& s) noexcept {
  return s.kind == machine_kind::jump || s.kind == machine_kind::give_back;
}

// Whether the second does nothing after the first, or can be made a move.
bool second_goes(const machine_step& first, machine_step& second) noexcept {
  if (never_goes_on(first)) return second.kind != machine_kind::label;
  if (first.kind != machine_kind::store_slot || second.kind != machine_kind::load_slot) return false;
  if (first.integer != second.integer) return false;
  if (first.a == second.d) return true;
  second.kind = machine_kind::move;
  second.a = first.a;
  return false;
}

bool first_goes(const machine_step& first, const machine_step& second) noexcept {
  return first.kind == machine_kind::jump && second.kind == machine_kind::label &&
         first.label == second.label;
}

}  // namespace

void simplify(machine_code& all) noexcept {
  bool changed = true;
  while (changed) {
    changed = false;
    for (machine_step** at = &all.first(); *at != nullptr;) {
      machine_step& now = **at;
      if (does_nothing(now) || (now.next != nullptr && first_goes(now, *now.next))) {
        all.remove(*at);
        changed = true;
      } else if (now.next != nullptr && second_goes(now, *now.next)) {
        all.remove(now.next);
        changed = true;
      } else {
        at = &now.next;
      }
    }
  }
}

}  // namespace mallard::programs
