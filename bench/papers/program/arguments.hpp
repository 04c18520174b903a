// The command line of mallard-bench: which group to measure, and how.
#pragma once

#include <optional>

#include "common/setting.hpp"
#include "program/group_session.hpp"

namespace mallard::bench {

struct command {
  setting asked;
  session_options options;
  bool list_strategies = false;
  bool tell_machine = false;
};

// Nothing when there is nothing more to do; exit_code is then set and anything to be said has been.
[[nodiscard]] std::optional<command> parse_arguments(int argc, char** argv, int& exit_code);

}  // namespace mallard::bench
