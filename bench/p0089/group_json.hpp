// group_json: a finished session as JSON: {"benchmark", "group", "machine", "method", "rows": [...]}.
//
// A row a figure of a contestant: what tells it from the contestant's others stands in it. What was not
// measured is null.
#pragma once

#include <string>

#include "p0089/session.hpp"

namespace mallard::p0089 {

[[nodiscard]] std::string to_json(const session& done);

// The contestants of a benchmark: label, strategy, binding, destruction.
[[nodiscard]] std::string contestants_json(benchmark which);

}  // namespace mallard::p0089
