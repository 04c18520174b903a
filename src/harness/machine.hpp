// machine_facts: what a table of times must say about where it was measured.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
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

// The "machine" of every JSON table.
[[nodiscard]] nlohmann::ordered_json to_json(const machine_facts& m);

}  // namespace mallard::harness
