#include "harness/tool_arguments.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "harness/bytes.hpp"
#include "harness/memory_meter.hpp"

namespace mallard::harness {

tool_arguments::tool_arguments(CLI::App& app, int& exit_code) : app_(app), exit_code_(exit_code) {
  app.add_option("--memory-limit", memory_limit_said_,
                 "Memory a strategy may take, as 512M or 4G (default: half of what is available)")
      ->type_name("BYTES");
}

bool tool_arguments::parse(int argc, char** argv) {
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

std::nullopt_t tool_arguments::refuse(const std::string& what) {
  std::fprintf(stderr, "%s: %s\n", app_.get_name().c_str(), what.c_str());
  exit_code_ = 2;
  return std::nullopt;
}

}  // namespace mallard::harness
