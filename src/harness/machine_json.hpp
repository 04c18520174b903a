// The "machine" of every JSON table. In a header alone: what includes it writes the rest of the table.
#pragma once

#include <nlohmann/json.hpp>

#include "harness/machine.hpp"

namespace mallard::harness {

[[nodiscard]] inline nlohmann::ordered_json to_json(const machine_facts& m) {
  return {{"cpu", m.cpu},
          {"cores", m.cores},
          {"memory", m.memory},
          {"kernel", m.kernel},
          {"transparent_huge_pages", m.transparent_huge_pages},
          {"c_library", m.c_library},
          {"compiler", m.compiler},
          {"flags", m.flags}};
}

}  // namespace mallard::harness
