#include "recorder/launcher/record_options.hpp"

#include <CLI/CLI.hpp>
#include <bit>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>

namespace mallard::recorder {
namespace {

constexpr int usage_error = 2;

const std::map<std::string, journal::stack_mode> stack_modes = {{"full", journal::stack_mode::full},
                                                                {"caller", journal::stack_mode::caller},
                                                                {"none", journal::stack_mode::none}};

// CLI11 does not know of the program and its arguments, since they are no options.
class formatter : public CLI::Formatter {
 public:
  // `name` is what the user has called: mallard-record or mallard record.
  explicit formatter(std::string name) : name_(std::move(name)) {}

  std::string make_usage(const CLI::App*, std::string) const override {
    return "Usage: " + name_ + " [OPTIONS] [--] PROGRAM [ARGUMENTS...]\n";
  }

 private:
  std::string name_;
};

}  // namespace

std::variant<record_options, int> parse_options(int argc, char** argv) {
  record_options chosen;
  CLI::App app("Records every allocation of a program into a journal, for mallard-replay and mallard.");
  app.formatter(std::make_shared<formatter>(std::filesystem::path(argv[0]).filename().string()));
  app.set_version_flag("--version", recorder_version);
  app.add_option("-o,--output", chosen.output,
                 "Journal to write; one that is there becomes FILE.old; children go to FILE.d; default: "
                 "mallard.PID.mlrd")
      ->type_name("FILE");
  app.add_option("--stack", chosen.recorded.stacks,
                 "How much of a call's stack to record: full, caller (one frame) or none; default: full")
      ->type_name("full|caller|none")
      ->transform(CLI::Validator(
          [](std::string& word) -> std::string {
            const auto mode = stack_modes.find(word);
            if (mode == stack_modes.end()) return "must be full, caller or none, not " + word;
            word = std::to_string(static_cast<unsigned>(mode->second));
            return {};
          },
          ""));
  app.add_option("--depth", chosen.recorded.depth,
                 "Innermost frames that a full stack keeps; 1 to 2048; default: all")
      ->type_name("N")
      ->check(CLI::Range(1u, journal::deepest_stack).description(""));
  app.add_flag_function(
      "--free-stacks", [&](std::int64_t) { chosen.recorded.free_stacks = 1; },
      "Also record the stacks of frees");
  app.add_flag_function(
      "--no-children", [&](std::int64_t) { chosen.recorded.children = 0; },
      "Record neither child processes nor what the program becomes by exec");
  const auto record_snapshots = [&](std::int64_t) { chosen.recorded.snapshots = 1; };
  app.add_flag_function(
      "--witness", record_snapshots,
      "Also record registers and stack words of callers, which show what object owns a block: in windows of "
      "65,536 allocations a thread, ever further apart, and short ones between them");
  app.add_flag_function("--snapshot", record_snapshots)->group("");  // its name of before
  app.add_option("--buffer", chosen.ring_bytes,
                 "Size of each thread's ring, rounded up to a power of two; 4k to 1g")
      ->type_name("BYTES")
      ->transform(CLI::Validator(
          [](std::string& word) -> std::string {
            const std::string given = word;
            try {
              CLI::AsSizeValue(false)(word);
              return {};
            } catch (const CLI::ValidationError&) {
              return "must be a size in bytes, such as 64k or 1m, not " + given;
            }
          },
          ""))
      ->check(CLI::Range(journal::smallest_ring, journal::largest_ring).description(""))
      ->capture_default_str();
  app.add_option("--usage-interval", chosen.usage_interval_ms,
                 "How often to record CPU time and recording's share of it, in ms; 1 to 60000")
      ->type_name("MS")
      ->check(CLI::Range(1u, 60'000u).description(""))
      ->capture_default_str();
  app.prefix_command();  // the first word that is no option begins the program's command
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    print_message(error.what());
    return usage_error;
  }
  chosen.command = app.remaining();
  if (!chosen.command.empty() && chosen.command.front() == "--") {
    chosen.command.erase(chosen.command.begin());
  } else if (!chosen.command.empty() && chosen.command.front().starts_with('-')) {
    print_message("unknown option " + chosen.command.front() + " (see --help)");
    return usage_error;
  }
  if (chosen.output == "-") {
    print_message("-o -: a journal is a file and cannot go to standard output");
    return usage_error;
  }
  if (chosen.recorded.snapshots != 0 && chosen.recorded.stacks == journal::stack_mode::none) {
    print_message(
        "--witness tells blocks of one caller apart, so callers must be recorded: use --stack full or "
        "caller");
    return usage_error;
  }
  if (chosen.command.empty()) {
    print_message("no program to record (see --help)");
    return usage_error;
  }
  chosen.recorded.ring_words = std::bit_ceil(chosen.ring_bytes) / sizeof(std::uint64_t);
  return chosen;
}

}  // namespace mallard::recorder
