// options: what the user asked mallard-record to do.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "journal/spool/spool.hpp"

namespace mallard::recorder {

struct options {
  std::string output;                              // path of the journal; empty: mallard.PID.mlrd
  std::size_t ring_bytes = journal::default_ring;  // of each thread; a power of two
  journal::spool_options recorded;                 // what is recorded; its ring_words are not set here
  std::vector<std::string> command;                // program and arguments, never empty
};

// The options, or the exit code when there is nothing to run: --help, --version, a mistake. What is to
// be said to the user has been said.
[[nodiscard]] std::variant<options, int> parse_options(int argc, char** argv);

}  // namespace mallard::recorder
