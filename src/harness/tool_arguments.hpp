// tool_arguments: the command line of a tool that measures: --memory-limit, and every way that parsing ends.
//
//     parsed      --help, --version           what is wrong
//     go on       said, exit code 0           one line on standard error, exit code 2
//
// In a header alone: what includes it has its own options, and compiles the parser for them.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include "harness/bytes.hpp"
#include "harness/memory_meter.hpp"

namespace mallard::harness {

class tool_arguments {
 public:
  // Adds --memory-limit to a program's options. Both must live until it was parsed; `exit_code` is what to
  // exit with where there is nothing more to do.
  tool_arguments(CLI::App& app, int& exit_code);

  // Whether there is something to do; if not, exit_code is set and what is to be said has been.
  [[nodiscard]] bool parse(int argc, char** argv);

  // Says what is wrong with the arguments, and sets the exit code: nothing is to be done.
  std::nullopt_t refuse(const std::string& what);

  // Bytes that one allocator may take, half of what is available if nothing was said. Once it was parsed.
  [[nodiscard]] std::uint64_t memory_limit() const { return memory_limit_; }

 private:
  CLI::App& app_;
  int& exit_code_;
  std::string memory_limit_said_;
  std::uint64_t memory_limit_ = 0;
};

inline tool_arguments::tool_arguments(CLI::App& app, int& exit_code) : app_(app), exit_code_(exit_code) {
  app.add_option("--memory-limit", memory_limit_said_,
                 "Memory a strategy may take, as 512M or 4G (default: half of what is available)")
      ->type_name("BYTES");
}

inline bool tool_arguments::parse(int argc, char** argv) {
  try {
    app_.parse(argc, argv);
  } catch (const CLI::Success& e) {
    exit_code_ = app_.exit(e);
    return false;
  } catch (const CLI::ParseError& e) {
    refuse(std::string(e.what()) + " (see --help)");
    return false;
  }
  const auto said = parse_bytes(memory_limit_said_);
  if (!said && !memory_limit_said_.empty()) {
    refuse("--memory-limit " + memory_limit_said_ + " is not a size; write 512M or 4G");
    return false;
  }
  memory_limit_ = said ? *said : available_memory() / 2;
  return true;
}

inline std::nullopt_t tool_arguments::refuse(const std::string& what) {
  std::fprintf(stderr, "%s: %s\n", app_.get_name().c_str(), what.c_str());
  exit_code_ = 2;
  return std::nullopt;
}

}  // namespace mallard::harness
