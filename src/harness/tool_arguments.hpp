// tool_arguments: the command line of a tool that measures: --memory-limit, and every way that parsing ends.
//
//     parsed      --help, --version           what is wrong
//     go on       said, exit code 0           one line on standard error, exit code 2
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace CLI {
class App;
}

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

}  // namespace mallard::harness
