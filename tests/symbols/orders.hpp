// orders: the program targets/orders.cpp, what it says of its own calls, and copies of it that know less.
#pragma once

#include <stdio.h>

#include <cstdint>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace mallard::test {

// What a shell command prints; it must succeed.
inline std::string output_of(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
  std::string text;
  char piece[4096];
  for (std::size_t size = 0; (size = fread(piece, 1, sizeof piece, pipe)) > 0;) text.append(piece, size);
  if (pclose(pipe) != 0) throw std::runtime_error("failed: " + command);
  return text;
}

[[nodiscard]] inline std::string build_id_of(const std::filesystem::path& program) {
  return output_of(std::string(MALLARD_READELF) + " -n '" + program.string() +
                   "' | sed -n 's/.*Build ID: //p' | tr -d '\\n'");
}

struct marked_call {
  std::vector<std::string> functions;  // innermost first
  std::uint32_t line = 0;
  std::uint64_t address = 0;
};

// The program says itself which of its calls is where.
[[nodiscard]] inline std::vector<marked_call> marked_calls(const std::string& program = MALLARD_ORDERS) {
  std::istringstream lines(output_of(program));
  std::vector<marked_call> calls;
  std::string label;
  marked_call call;
  while (lines >> label >> std::dec >> call.line >> std::hex >> call.address) {
    call.functions.clear();
    std::istringstream names(label);
    for (std::string name; std::getline(names, name, '|');) call.functions.push_back(name);
    if (call.address != 0) calls.push_back(call);
  }
  return calls;
}

// A copy in which nothing is left but what running needs; `options` are objcopy's.
inline std::filesystem::path stripped(const std::filesystem::path& to, const std::string& options = "") {
  output_of(std::string(MALLARD_OBJCOPY) + " --strip-all " + options + " " MALLARD_ORDERS " '" + to.string() +
            "'");
  return to;
}

}  // namespace mallard::test
