// record_options: what the user asked mallard-record to do, and what it says of itself: its name and version,
// and lines on standard error.
#pragma once

#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "journal/spool/spool.hpp"
#include "mallard/core/version.hpp"

#define MALLARD_TEXT(x) #x
#define MALLARD_DOTTED(a, b, c) MALLARD_TEXT(a) "." MALLARD_TEXT(b) "." MALLARD_TEXT(c)

namespace mallard::recorder {

inline constexpr char recorder_version[] =
    "mallard-record " MALLARD_DOTTED(MALLARD_VERSION_MAJOR, MALLARD_VERSION_MINOR, MALLARD_VERSION_PATCH);

inline void print_message(const std::string& line) {
  std::fprintf(stderr, "mallard-record: %s\n", line.c_str());
}

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

#undef MALLARD_DOTTED
#undef MALLARD_TEXT
