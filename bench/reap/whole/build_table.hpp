// build_table: the rows of a run as text, and as JSON with the machine and the method around them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "whole/build_runs.hpp"

namespace mallard::whole {

[[nodiscard]] std::string as_text(const std::string& program, const std::vector<row>& rows);
[[nodiscard]] nlohmann::ordered_json as_json(const std::string& program, const std::vector<row>& rows);

// Where the figures come from, for people: the machine and the method, a line each.
[[nodiscard]] std::string method();

}  // namespace mallard::whole
