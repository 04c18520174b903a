// evaluator: walks the tree; each call and each turn of a loop has a region.
//
//     main's region  <-- call's region <-- loop's region      children of one another, as scopes are
//                        [variables ...]   [a turn's values]  cleared after each turn
//
// What an expression makes lies in the innermost region (frame::here) and ends with it. A value that is
// stored farther out, or returned, is copied to where it goes. Arguments are made in the region of the call;
// lists and dictionaries that variables hold are passed by reference, all else by value. A call is no deeper
// than `deepest`. Mistakes end the process with their line. Seed 002, section 4.2 (nested regions).
#pragma once

#include <cstdint>

#include "programs/interpreter/script_tree.hpp"
#include "programs/memory/region_kinds.hpp"

namespace mallard::programs {

// One call under way.
struct frame {
  variable* variables = nullptr;
  region* here = nullptr;    // where values are made
  region* caller = nullptr;  // where the result goes
  value result;
};

// What comes after a statement.
enum class flow : std::uint8_t { on, leave, skip, give_back };

class evaluator {
 public:
  static constexpr std::uint32_t deepest = 4000;

  // Runs the function that is the whole program.
  void run(const function& main, region& r);

 private:
  // Expressions.
  value evaluate(const node& n, frame& f);
  value evaluate_list(const node& n, frame& f);
  value evaluate_dictionary(const node& n, frame& f);
  value evaluate_binary(const node& n, frame& f);
  value evaluate_index(const node& n, frame& f);
  value evaluate_builtin(const node& n, frame& f);
  value evaluate_closure(const node& n, frame& f);
  bool holds(const node& n, frame& f);
  std::int64_t integer(const node& n, frame& f);

  // Calls.
  value evaluate_call(const node& n, frame& f);
  value call(const function& code, const closure* captured, const node& n, frame& f);
  void pass(const node& argument, frame& f, variable& parameter, region& callee);

  // Statements.
  flow execute(const node* first, frame& f);
  flow execute_repeat(const node& n, frame& f);
  flow execute_for_in(const node& n, frame& f);
  flow execute_for_range(const node& n, frame& f);
  flow execute_body(const node& n, std::uint32_t first, frame& f, region& body);
  void execute_let(const node& n, frame& f);
  void execute_assign(const node& n, frame& f);

  // Places that can be assigned to.
  struct place {
    value* at;
    region* home;
  };
  // With `add`, a key that is not there is added.
  place place_of(const node& n, frame& f, bool add);

  std::uint32_t depth_ = 0;
};

// A value that may be lent, as one that stays whatever happens to variables.
[[nodiscard]] inline value own(const value& v, frame& f) {
  return v.owned || !has_blocks(v) ? v : copy(*f.here, v);
}

// Ends what variables of a frame hold themselves.
inline void drop_variables(frame& f, std::uint32_t first, std::uint32_t end) noexcept {
  if (!region::frees) return;
  for (std::uint32_t i = first; i < end; ++i) {
    variable& v = f.variables[i];
    if (v.other != nullptr || v.home == nullptr) continue;
    drop(*v.home, v.held);
    v.held = {};
  }
}

}  // namespace mallard::programs
