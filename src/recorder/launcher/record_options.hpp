// record_options: what the user asked mallard-record to do.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "journal/spool/spool.hpp"

namespace mallard::recorder {

struct record_options {
  std::string output;                              // path of the journal; empty: mallard.PID.mlrd
  std::size_t ring_bytes = journal::default_ring;  // of each thread; a power of two
  journal::spool_options recorded;                 // what is recorded; its ring_words are not set here
  unsigned usage_interval_ms = 1000;               // from one account of the CPU time to the next, at least
  std::vector<std::string> command;                // program and arguments, never empty
};

// The options, or the exit code when there is nothing to run: --help, --version, a mistake. The user has been
// answered then.
[[nodiscard]] std::variant<record_options, int> parse_options(int argc, char** argv);

}  // namespace mallard::recorder
