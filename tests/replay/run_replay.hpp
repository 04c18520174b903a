// run_replay: the program as its users run it, for tests. MALLARD_REPLAY is its path.
#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

namespace mallard::replay::testing {

using json = nlohmann::json;

// A sanitizer's malloc takes the place of every other one, and its memory is not limited like theirs.
inline constexpr bool sanitized = MALLARD_SANITIZED;

struct run_result {
  int exit_code;
  std::string out;
};

// Runs the shell command; $REPLAY is the program.
inline run_result shell(const std::string& command) {
  const std::string line = "REPLAY='" MALLARD_REPLAY "'; " + command;
  FILE* pipe = ::popen(line.c_str(), "r");
  std::string out;
  std::array<char, 4096> buffer{};
  for (std::size_t got = 0; (got = std::fread(buffer.data(), 1, buffer.size(), pipe)) != 0;)
    out.append(buffer.data(), got);
  const int status = ::pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), out};
}

inline const json& row_of(const json& rows, const std::string& strategy, const std::string& binding) {
  for (const json& r : rows)
    if (r["strategy"] == strategy && r["binding"] == binding) return r;
  static const json none;
  return none;
}

}  // namespace mallard::replay::testing
