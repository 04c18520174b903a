// group_json: a finished session as JSON: {"benchmark", "group", "machine", "method", "rows": [...]}.
//
// A row a figure of an allocator: what tells it from the allocator's others stands in it. What was not
// measured is null.
#pragma once

#include <string>

#include "program/group_session.hpp"

namespace mallard::bench {

[[nodiscard]] std::string to_json(const group_session& done);

// The allocators of a benchmark: label, strategy, binding, destruction.
[[nodiscard]] std::string allocators_json(benchmark which);

// The machine as it stands in each group.
[[nodiscard]] std::string machine_json();

}  // namespace mallard::bench
