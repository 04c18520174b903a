#include "replay/command_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <utility>

#include "harness/foreign_malloc.hpp"
#include "harness/tool_arguments.hpp"
#include "mallard/core/version.hpp"
#include "replay/run/callgrind.hpp"

namespace mallard::replay {
namespace {

#define MALLARD_TEXT_OF(x) #x
#define MALLARD_TEXT(x) MALLARD_TEXT_OF(x)
constexpr const char* version = "mallard-replay " MALLARD_TEXT(MALLARD_VERSION_MAJOR) "." MALLARD_TEXT(
    MALLARD_VERSION_MINOR) "." MALLARD_TEXT(MALLARD_VERSION_PATCH);

constexpr const char* description =
    "Replays the allocations of a recorded program with each allocation strategy, and says what each "
    "costs in time and memory.";

constexpr const char* footer =
    "Exit codes: 0 the table is complete, 1 a strategy failed its check, 2 bad input, 130 interrupted "
    "(the rows measured so far are printed).";

class formatter : public CLI::Formatter {
 public:
  // `name` is what the user has called: mallard-replay or mallard replay.
  explicit formatter(std::string name) : name_(std::move(name)) {}

  std::string make_usage(const CLI::App* app, std::string) const override {
    return CLI::Formatter::make_usage(app, name_);
  }

 private:
  std::string name_;
};

// The first name that is not a strategy's; empty if all are.
std::string unknown_name(const std::vector<std::string>& names, std::span<const strategy> all) {
  for (const std::string& name : names)
    if (std::ranges::none_of(all, [&](const strategy& s) { return s.name == name; })) return name;
  return {};
}

std::string known_names(std::span<const strategy> all) {
  std::string text;
  std::set<std::string_view> seen;
  for (const strategy& s : all)
    if (seen.insert(s.name).second) text += (text.empty() ? "" : ", ") + s.name;
  return text;
}

std::string known_mallocs() {
  std::string text;
  for (const harness::foreign_malloc& m : harness::foreign_mallocs())
    text += (text.empty() ? "" : ", ") + std::string(m.name);
  return text;
}

}  // namespace

std::optional<command> parse_command_line(int argc, char** argv, int& exit_code) {
  command asked;
  double warm_seconds = 0.2;

  CLI::App app(description, "mallard-replay");
  app.footer(footer);
  app.set_version_flag("--version", version);
  app.formatter(std::make_shared<formatter>(std::filesystem::path(argv[0]).filename().string()));
  app.get_formatter()->column_width(34);
  app.add_option("FILE", asked.file, "Journal or its text form, also as .xz");
  bool regions = false;
  app.add_flag("--regions", regions,
               "Replay the journal's regions and what is in them, against strategies for regions, instead of "
               "its blocks of malloc");
  bool threads = false;
  app.add_flag(
      "--threads", threads,
      "Replay each event on a thread of its own recorded thread, with strategies that several threads "
      "may use at once");
  const CLI::Option* const window =
      app.add_option("--window", asked.schedule.window,
                     "With --threads: events that a thread may be ahead of the recorded order (default " +
                         std::to_string(default_window) + ")")
          ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 30))
          ->type_name("N");
  const CLI::Option* const scale =
      app.add_option(
             "--scale", asked.options.scale,
             "With --threads: also run 1 to N copies of the journal's threads at once, each with its own "
             "blocks")
          ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{8}))
          ->type_name("N");
  double crossing = 0;
  const CLI::Option* const crosses =
      app.add_option("--crossing", crossing,
                     "With --scale: percent of the blocks that another copy frees (default 0)")
          ->check(CLI::Range(0.0, 100.0))
          ->type_name("PERCENT");
  CLI::Option* const part =
      app.add_option("--part", asked.part,
                     "Give a part of the program heaps of its own, and what is around it to a malloc: FILE "
                     "has a little-endian 32-bit number for each event, 0 or that of the heap it allocates "
                     "from")
          ->type_name("FILE");
  std::string baseline = "glibc";
  CLI::Option* const baseline_said =
      app.add_option("--baseline", baseline, "With --part: the malloc around the part (default glibc)")
          ->type_name("MALLOC");
  app.add_option("--strategy", asked.options.names,
                 "Only this strategy, beside none and glibc; may be repeated")
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("NAME");
  const std::map<std::string, binding> bindings{
      {"typed", binding::typed}, {"pmr", binding::pmr}, {"malloc", binding::malloc}};
  std::string binding_name;
  app.add_option("--binding", binding_name, "Only strategies bound this way: typed, pmr or malloc")
      ->check(CLI::IsMember({"typed", "pmr", "malloc"}))
      ->type_name("HOW");
  app.add_option("--rounds", asked.options.rounds,
                 "Rounds, each in a fresh process per strategy; at least 5 (default 5)")
      ->check(CLI::Range(5, 1000))
      ->type_name("N");
  app.add_option("--most-rounds", asked.options.most_rounds,
                 "Rounds at most, where figures are unsteady (default three times --rounds)")
      ->check(CLI::Range(5, 3000))
      ->type_name("N");
  app.add_option("--warm-time", warm_seconds, "CPU seconds of warm passes in each process (default 0.2)")
      ->check(CLI::Range(0.0, 3600.0))
      ->type_name("SECONDS");
  harness::tool_arguments arguments(app, exit_code);
  const std::map<std::string, touch> touches{
      {"first", touch::first}, {"lines", touch::lines}, {"all", touch::all}};
  std::string touch_name = "first";
  app.add_option("--touch", touch_name,
                 "Write the first byte of each block, or all; with --part also lines: a byte of each cache "
                 "line of its first page, and of each page behind that (default first)")
      ->check(CLI::IsMember({"first", "lines", "all"}))
      ->type_name("WHAT");
  app.add_option(
         "--litter", asked.options.litter,
         "Allocate 1, 3 or 10 times the live blocks beforehand and free a part of them, so that the heap "
         "is full of holes (default 0: a fresh heap)")
      ->check(CLI::IsMember(std::vector<std::uint64_t>{0, 1, 3, 10}))
      ->type_name("TIMES");
  app.add_flag("--shift", asked.options.shift,
               "Measure each strategy with its heap's start shifted by 0, 64, 1024, 2048 and 4032 bytes; "
               "figures are medians over the five");
  app.add_flag("--curve", asked.options.curve,
               "Draw live, granted and held bytes over the events, in JSON, and print four measures of "
               "fragmentation");
  bool latency = false;
  app.add_flag("--latency", latency,
               "Time single operations as well: percentiles, and the worst of each strategy");
  std::uint64_t passes = 30;
  CLI::Option* const passes_said =
      app.add_option("--passes", passes, "Passes in which --latency times each operation (default 30)")
          ->check(CLI::Range(1, 100'000))
          ->type_name("K");
  app.add_flag("--instructions", asked.options.count_instructions,
               "Count instructions as well, with valgrind (slow, the same in every run)");
  app.add_flag("--check-only", asked.options.check_only,
               "Only check that each strategy serves the journal correctly");
  app.add_flag("--held-only", asked.options.held_only,
               "Only measure how much memory each strategy holds, in one pass of each; nothing is checked");
  app.add_flag("--json", asked.json, "Print JSON");
  app.add_option("-o", asked.output, "Write JSON to this file as well, as mallard report --replay reads it")
      ->type_name("FILE");
  const CLI::Option* const plot =
      app.add_option(
             "--plot",
             "Draw pictures of it, PNG and SVG, into this folder; adds --latency and --curve. FILE may also "
             "be what -o has written: that is drawn, and nothing is measured")
          ->type_name("DIR");
  app.add_flag("--list-strategies", asked.list_strategies, "List the strategies and stop");

  if (!arguments.parse(argc, argv)) return std::nullopt;
  // NaN is in every range: no comparison with it holds.
  if (!std::isfinite(warm_seconds)) return arguments.refuse("--warm-time is a number of seconds");
  if (regions && threads) return arguments.refuse("--threads and --regions exclude each other");
  if (regions) asked.of = subject::regions;
  if (threads) asked.of = subject::threads;
  if (scale->count() != 0 && !threads) return arguments.refuse("--scale requires --threads");
  if (crosses->count() != 0 && scale->count() == 0) return arguments.refuse("--crossing requires --scale");
  asked.schedule.copies = std::max<std::uint64_t>(asked.options.scale, 1);
  asked.schedule.crossing = crossing / 100;
  if (window->count() != 0 && !threads) return arguments.refuse("--window requires --threads");
  if (threads && asked.options.litter != 0)
    return arguments.refuse("--litter is for one thread: leave out --threads");
  if (threads && asked.options.count_instructions)
    return arguments.refuse("--instructions is for one thread: leave out --threads");
  if (threads && asked.options.shift)
    return arguments.refuse("--shift is for one thread: leave out --threads");
  if (threads && asked.options.curve)
    return arguments.refuse("--curve is for one thread: leave out --threads");
  if (threads && latency) return arguments.refuse("--latency is for one thread: leave out --threads");
  if (latency && regions)
    return arguments.refuse("--latency times operations on blocks: leave --regions out");
  if (asked.options.held_only) {
    if (asked.options.check_only) return arguments.refuse("--held-only and --check-only exclude each other");
    if (latency || asked.options.count_instructions || scale->count() != 0)
      return arguments.refuse(
          "--held-only times and counts nothing: leave --latency, --instructions and --scale out");
  }
  if (asked.options.most_rounds != 0 && asked.options.most_rounds < asked.options.rounds)
    return arguments.refuse("--most-rounds is less than --rounds");
  if (latency && asked.options.check_only)
    return arguments.refuse("--check-only measures nothing: leave --latency out");
  if (!latency && passes_said->count() != 0) return arguments.refuse("--passes requires --latency");
  if (latency) asked.options.latency_passes = passes;
  const bool is_part = part->count() != 0;
  if (is_part && asked.part.empty()) return arguments.refuse("--part names no FILE");
  const std::pair<bool, const char*> of_whole_journals[]{
      {regions, "--regions"},
      {!binding_name.empty(), "--binding"},
      {asked.options.litter != 0, "--litter"},
      {asked.options.shift, "--shift"},
      {asked.options.curve, "--curve"},
      {latency, "--latency"},
      {scale->count() != 0, "--scale"},
  };
  for (const auto& [is_said, name] : of_whole_journals)
    if (is_part && is_said)
      return arguments.refuse(std::string(name) + " is for whole journals: leave out --part");
  if (!is_part && baseline_said->count() != 0) return arguments.refuse("--baseline requires --part");
  if (!is_part && touch_name == "lines") return arguments.refuse("--touch lines requires --part");
  if (is_part) asked.options.baseline = harness::find_foreign_malloc(baseline);
  if (is_part && asked.options.baseline == nullptr)
    return arguments.refuse("unknown malloc " + baseline + "; known: " + known_mallocs());

  if (asked.list_strategies) return asked;
  if (plot->count() != 0)
    return arguments.refuse("--plot is drawn by the mallard command: mallard replay FILE --plot DIR");
  if (asked.file.empty()) return arguments.refuse("FILE is missing: name the journal to replay (see --help)");
  const std::span<const strategy> all = strategies(asked.of, is_part);
  if (const std::string name = unknown_name(asked.options.names, all); !name.empty())
    return arguments.refuse("unknown strategy " + name + "; known: " + known_names(all));
  if (!binding_name.empty()) asked.options.only_binding = bindings.at(binding_name);
  asked.options.touched = touches.at(touch_name);
  asked.options.warm_ns = static_cast<std::uint64_t>(std::llround(warm_seconds * 1e9));
  asked.options.memory_limit = arguments.memory_limit();
  if (asked.options.count_instructions && valgrind_path().empty())
    return arguments.refuse("--instructions needs valgrind: apt install valgrind");
  return asked;
}

}  // namespace mallard::replay
