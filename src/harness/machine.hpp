// machine_facts: what a table of times must say about where it was measured.
#pragma once

#include <cstdint>
#include <string>

namespace mallard::harness {

struct machine_facts {
  std::string cpu;
  unsigned cores = 0;
  std::uint64_t memory = 0;  // bytes
  std::string kernel;
  std::string transparent_huge_pages;  // the policy in force: always, madvise, never
  std::string c_library;
  std::string compiler;
  std::string flags;
};

[[nodiscard]] machine_facts this_machine();

}  // namespace mallard::harness
