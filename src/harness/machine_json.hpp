// The "machine" of every JSON table.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "harness/machine.hpp"

namespace mallard::harness {

[[nodiscard]] nlohmann::ordered_json to_json(const machine_facts& m);

}  // namespace mallard::harness
