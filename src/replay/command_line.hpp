// command_line: what the user of mallard-replay asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "replay/session/replay_session.hpp"
#include "replay/trace/scheduler.hpp"

namespace mallard::replay {

struct command {
  std::string file;
  std::string output;  // where JSON goes beside what is printed; empty: nowhere
  session_options options;
  subject of = subject::blocks;
  std::string part;  // the file that says whose an event's block is; empty: the whole journal is replayed
  schedule_options schedule;  // of --threads
  bool json = false;
  bool list_strategies = false;
};

// What was asked for; or nothing and, in `exit_code`, what to exit with: help or version has been
// printed (0), or one line on standard error says what is wrong (2).
[[nodiscard]] std::optional<command> parse_command_line(int argc, char** argv, int& exit_code);

}  // namespace mallard::replay
