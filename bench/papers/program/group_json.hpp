// group_json: a finished session as JSON: {"benchmark", "group", "machine", "method", "rows": [...]}.
//
// A row a figure of a contestant: what tells it from the contestant's others stands in it. What was not
// measured is null.
#pragma once

#include <string>

#include "program/group_session.hpp"

namespace mallard::bench {

[[nodiscard]] std::string to_json(const group_session& done);

// The contestants of a benchmark: label, strategy, binding, destruction.
[[nodiscard]] std::string contestants_json(benchmark which);

// The machine as it stands in each group.
[[nodiscard]] std::string machine_json();

}  // namespace mallard::bench
