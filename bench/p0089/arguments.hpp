// The command line of mallard-bench: which group to measure, and how.
#pragma once

#include <optional>

#include "p0089/session.hpp"
#include "p0089/setting.hpp"

namespace mallard::p0089 {

struct command {
  setting asked;
  session_options options;
  bool list_strategies = false;
};

// Nothing when there is nothing more to do; exit_code is then set and anything to be said has been.
[[nodiscard]] std::optional<command> parse_arguments(int argc, char** argv, int& exit_code);

}  // namespace mallard::p0089
