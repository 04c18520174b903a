// counted: the stretches of this program whose instructions callgrind counts, each with a name.
//
//     ... not counted ... { counted c; ... counted ... } ... not counted ... tell(row) -> one dump, zeroed
//
// callgrind starts with its collection off; `counted` turns it on for a scope, as often as a row wants,
// and `tell` writes the sum under the row's name. Turning it on and off costs a few instructions of its
// own, which go with those of the row's baseline: the same stretches around nothing.
#pragma once

#include <valgrind/callgrind.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace instructions {

class counted {
 public:
  counted() { CALLGRIND_TOGGLE_COLLECT; }
  counted(const counted&) = delete;
  counted& operator=(const counted&) = delete;
  ~counted() { CALLGRIND_TOGGLE_COLLECT; }
};

// A row's place in the table: what is done, who does it, bound in which way, at how many live blocks.
struct row {
  std::string_view scenario;
  std::string_view allocator;
  std::string_view way;
  std::size_t live;
};

// Writes what was counted since the last call as the sum over `operations` operations of `of`;
// besides, where `with` says so, whether there were "system calls".
inline void tell(const row& of, std::size_t operations, std::string_view with = "") {
  std::string name;
  for (const std::string_view part : {of.scenario, of.allocator, of.way}) name.append(part).append("|");
  name += std::to_string(of.live) + "|" + std::to_string(operations) + "|";
  CALLGRIND_DUMP_STATS_AT(name.append(with).c_str());
}

// The baseline of rows counted one operation a stretch: what going in and out of a stretch costs.
inline void tell_empty_stretches(std::string_view scenario, std::size_t live, std::size_t operations) {
  for (std::size_t i = 0; i != operations; ++i) const counted here;
  tell({scenario, "none", "typed", live}, operations);
}

// The compiler may assume nothing about memory across this.
inline void clobber() { asm volatile("" ::: "memory"); }

// The compiler may assume nothing about the value after this; costs no instruction.
template <class T>
[[gnu::always_inline]] inline T hidden(T value) {
  asm volatile("" : "+r"(value));
  return value;
}

}  // namespace instructions
