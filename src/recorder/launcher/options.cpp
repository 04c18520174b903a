#include "recorder/launcher/options.hpp"

#include <CLI/CLI.hpp>
#include <bit>
#include <cstdio>
#include <map>
#include <memory>

#include "recorder/launcher/version.hpp"

namespace mallard::recorder {
namespace {

constexpr int usage_error = 2;

const std::map<std::string, journal::stack_mode> stack_modes = {{"full", journal::stack_mode::full},
                                                                {"caller", journal::stack_mode::caller},
                                                                {"none", journal::stack_mode::none}};

// The program and its arguments are no options of ours, so CLI11 does not know how to show them.
class formatter : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App*, std::string) const override {
    return "Usage: mallard-record [OPTIONS] [--] PROGRAM [ARGUMENTS...]\n";
  }
};

}  // namespace

std::variant<options, int> parse_options(int argc, char** argv) {
  options chosen;
  CLI::App app("Records every allocation of a program into a journal, for mallard-replay and mallard.");
  app.formatter(std::make_shared<formatter>());
  app.set_version_flag("--version", recorder_version);
  app.add_option("-o,--output", chosen.output,
                 "Journal to write, those of children in FILE.d; default: mallard.PID.mlrd")
      ->type_name("FILE");
  app.add_option("--stack", chosen.recorded.stacks,
                 "What is recorded of a call's origin: full stack, caller or none; default: full")
      ->type_name("full|caller|none")
      ->transform(CLI::CheckedTransformer(stack_modes).description(""));
  app.add_option("--depth", chosen.recorded.depth, "Frames of a full stack, the innermost ones; 1 to 256")
      ->type_name("N")
      ->check(CLI::Range(1u, journal::deepest_stack).description(""))
      ->capture_default_str();
  app.add_flag_function(
      "--free-stacks", [&](std::int64_t) { chosen.recorded.free_stacks = 1; },
      "Record where frees are called from, too");
  app.add_flag_function(
      "--no-children", [&](std::int64_t) { chosen.recorded.children = 0; },
      "Leave the program's children, and what it becomes by exec, unrecorded");
  app.add_flag_function(
      "--witness", [&](std::int64_t) { chosen.recorded.witness = 1; },
      "Record registers and stack words of callers, in bursts, to tell the owners of blocks apart");
  app.add_option("--buffer", chosen.ring_bytes, "Ring of each thread, rounded up to a power of two; 4k to 1g")
      ->type_name("BYTES")
      ->transform(CLI::AsSizeValue(false).description(""))
      ->check(CLI::Range(journal::smallest_ring, journal::largest_ring).description(""))
      ->capture_default_str();
  app.prefix_command();  // what follows the first word that is no option belongs to the program
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "mallard-record: %s\n", error.what());
    return usage_error;
  }
  chosen.command = app.remaining();
  if (!chosen.command.empty() && chosen.command.front() == "--") {
    chosen.command.erase(chosen.command.begin());
  } else if (!chosen.command.empty() && chosen.command.front().starts_with('-')) {
    std::fprintf(stderr, "mallard-record: unknown option %s (see --help)\n", chosen.command.front().c_str());
    return usage_error;
  }
  if (chosen.command.empty()) {
    std::fprintf(stderr, "mallard-record: no program to record (see --help)\n");
    return usage_error;
  }
  chosen.recorded.ring_words = std::bit_ceil(chosen.ring_bytes) / sizeof(std::uint64_t);
  return chosen;
}

}  // namespace mallard::recorder
