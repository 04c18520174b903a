// builds: the builds of a program that take turns, and the malloc beneath those that use one.
//
//     region                  first: the others are compared with it in each round
//     sized_reap ... reap_frees
//     region_emulator glibc, region_emulator jemalloc ...     each malloc of harness/foreign_malloc.hpp
//     individual glibc, individual jemalloc ...
//     region again            the A/A row: what differs from the first is noise
//
// Seed 002, section 8 (Figures 8 and 9).
#pragma once

#include <string>
#include <vector>

#include "harness/foreign_malloc.hpp"

namespace mallard::whole {

struct build {
  std::string kind;                                  // as in programs/memory/region_kinds.hpp
  const harness::foreign_malloc* beneath = nullptr;  // null: none is used
  bool again = false;

  [[nodiscard]] std::string name() const;
};

[[nodiscard]] std::vector<build> builds();

// The first, and those whose name or kind is one of these; all, if there are none. A name that is neither of
// any is told by std::invalid_argument.
[[nodiscard]] std::vector<build> builds(const std::vector<std::string>& names);

}  // namespace mallard::whole
