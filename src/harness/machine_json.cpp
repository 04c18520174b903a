#include "harness/machine_json.hpp"

#include <nlohmann/json.hpp>

namespace mallard::harness {

nlohmann::ordered_json to_json(const machine_facts& m) {
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
