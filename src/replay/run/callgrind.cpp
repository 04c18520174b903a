#include "replay/run/callgrind.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <sstream>

[[gnu::noinline, gnu::visibility("default")]] void mallard_replay_counted(void (*call)(void*),
                                                                          void* argument) {
  call(argument);
  asm volatile("");  // no tail call: the function is left when the call is over
}

namespace mallard::replay {

std::string valgrind_path() {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::string candidate = folder + "/valgrind";
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return {};
}

harness::launch_plan under_callgrind(harness::launch_plan plan) {
  std::vector<std::string> arguments{"--tool=callgrind", "--toggle-collect=mallard_replay_counted",
                                     "--callgrind-out-file=/dev/null", plan.program};
  arguments.insert(arguments.end(), plan.arguments.begin(), plan.arguments.end());
  plan.program = valgrind_path();
  plan.arguments = std::move(arguments);
  return plan;
}

std::optional<double> instructions_in(const std::string& last_line) {
  const auto colon = last_line.rfind(':');
  if (!last_line.starts_with("==") || colon == std::string::npos) return std::nullopt;
  std::string digits;
  for (const char c : last_line.substr(colon + 1))
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) digits += c;
  if (digits.empty()) return std::nullopt;
  return std::stod(digits);
}

}  // namespace mallard::replay
