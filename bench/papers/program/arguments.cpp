#include "program/arguments.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "harness/tool_arguments.hpp"
#include "p0089/locality/locality.hpp"
#include "program/benchmarks.hpp"

namespace mallard::bench {
namespace {

// Binary exponents: 2^40 of anything is more than there is.
const CLI::Range exponent(0, 40);

void add_sizes(CLI::App& app, std::uint32_t& elements, const char* of, std::uint32_t& iterations,
               const char* how_often) {
  app.add_option("--elements", elements, of)->check(CLI::Range(1, 100'000'000));
  app.add_option("--iterations", iterations, how_often)->check(CLI::Range(1, 100'000'000));
}

// add_options: those that set one group of a benchmark; `into` holds their defaults and must outlive the
// parsing.
void add_options(CLI::App& app, density_setting& into) {
  app.add_option("--structure", into.structure, "Data structure, 1 for DS1 to 12")->check(CLI::Range(1, 12));
  app.add_option("--size", into.size, "It has 2^N elements")->check(exponent);
  app.add_option("--leaves", into.leaves, "Iterations go on until 2^N leaves are written")->check(exponent);
  app.add_flag("--cached-hashes,!--uncached-hashes", into.cached_hashes,
               "Whether nodes of sets keep their hashes (they do)");
}

void add_options(CLI::App& app, locality_setting& into) {
  static const std::map<std::string, locality_table> tables{{"splits", locality_table::splits},
                                                            {"factors", locality_table::factors}};
  app.add_option("--table", into.table, "splits: of af and rf (default); factors: of the shuffle, af 10")
      ->transform(CLI::CheckedTransformer(tables).description("splits|factors"));
  const CLI::Option* const global =
      app.add_option("--global", into.global, "2^N links in all (18); with factors 10^N (7)")
          ->check(exponent);
  const CLI::Option* const subsystem =
      app.add_option("--subsystem", into.subsystem, "2^N links a subsystem (10); with factors 10^N (3)")
          ->check(exponent);
  app.add_option("--shuffles", into.shuffles, "Shuffle factor; of factors, the last one")
      ->check(CLI::Range(0, 40));
  app.add_option("--product", into.product, "af * rf = 2^N: af = 2^N ... 1")->check(CLI::Range(0, 20));
  app.add_option("--accesses", into.accesses, "Timed for each figure, about (default 2^22)")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40));
  app.add_option_function<std::string>(
         "--run",
         [&into](const std::string& text) {
           const std::optional<locality_run> run = parse_run(text);
           if (!run) throw CLI::ValidationError("--run", text + " is no run; write |G| |S| af sf rf");
           into.run = *run;
           into.table = locality_table::run;
         },
         "One run in the paper's notation, |G| |S| af sf rf, as \"-21 18 8 +3 32\"")
      ->type_name("RUN");
  app.parse_complete_callback([&into, global, subsystem] {
    if (into.table != locality_table::factors) return;
    if (global->empty()) into.global = 7;
    if (subsystem->empty()) into.subsystem = 3;
  });
}

void add_options(CLI::App& app, utilization_setting& into) {
  app.add_option("--total", into.total, "2^N bytes are allocated in all (T)")->check(exponent);
  app.add_option("--active", into.active, "2^N bytes are alive at a time (A)")->check(exponent);
  app.add_option("--block", into.block, "A block has 2^N bytes (S)")->check(exponent);
}

void add_options(CLI::App& app, contention_setting& into) {
  app.add_option("--iterations", into.iterations, "Each thread allocates and frees 2^N blocks (N)")
      ->check(exponent);
  app.add_option("--block", into.block, "A block has 2^N bytes (S)")->check(exponent);
  app.add_option("--threads", into.threads, "Threads at it at once (W)")->check(CLI::Range(1, 64));
}

void add_options(CLI::App& app, expansion_setting& into) {
  static const std::map<std::string, expansion_work> works{{"push_back", expansion_work::push_back},
                                                           {"command", expansion_work::command}};
  app.add_option("--work", into.work,
                 "push_back: of a vector (default); command: the one that grows a block, alone")
      ->transform(CLI::CheckedTransformer(works).description("push_back|command"));
  add_sizes(app, into.elements, "Elements of a vector, objects of a block", into.iterations,
            "Vectors, or blocks");
}

void add_options(CLI::App& app, shrink_setting& into) {
  add_sizes(app, into.elements, "Elements of a vector at first, a multiple of 5", into.iterations, "Vectors");
}

void add_options(CLI::App& app, burst_setting& into) {
  add_sizes(app, into.elements, "Elements of a range", into.iterations, "Ranges of a list");
}

void add_options(CLI::App& app, pools_setting& into) {
  static const std::map<std::string, pools_work> works{
      {"ranges", pools_work::ranges}, {"nodes", pools_work::nodes}, {"threads", pools_work::threads}};
  app.add_option("--work", into.work, "ranges: of a list (default); nodes: single ones; threads: four")
      ->transform(CLI::CheckedTransformer(works).description("ranges|nodes|threads"));
  add_sizes(app, into.elements, "Elements of a range, nodes of a list", into.iterations,
            "Ranges of a list, lists of each thread");
}

std::string unknown_name(const command& asked) {
  const auto all = allocators_of(asked.asked.which);
  for (const std::string& name : asked.options.names)
    if (std::ranges::none_of(all, [&](const measured_allocator& c) { return is_meant(c, name); }))
      return name;
  return {};
}

}  // namespace

std::optional<command> parse_arguments(int argc, char** argv, int& exit_code) {
  command asked;
  CLI::App app{"Measures one group of a benchmark: one line of one of a paper's tables. Prints JSON.",
               "mallard-bench"};
  app.require_subcommand(1);
  app.fallthrough();
  app.add_option("--strategy", asked.options.names, "Only these beside the first, as AS7 or multipool")
      ->type_name("NAME");
  app.add_option("--rounds", asked.options.rounds,
                 "Rounds at least, each in a fresh process per strategy (default 5)")
      ->check(CLI::Range(1, 1000))
      ->type_name("N");
  harness::tool_arguments arguments(app, exit_code);
  app.add_option("--litter", asked.asked.litter,
                 "Litter the heap beforehand with this many times the live objects (default 0: a fresh heap)")
      ->check(CLI::Range(0, 100))
      ->type_name("K");
  app.add_flag("--list-strategies", asked.list_strategies, "List the strategies and stop");
  app.add_flag("--machine", asked.tell_machine, "Tell the machine, as results have it, and stop");

  const auto add = [&](benchmark which, const char* summary) {
    CLI::App* const sub = app.add_subcommand(std::string(name_of(which)), summary);
    sub->callback([&asked, which] { asked.asked.which = which; });
    return sub;
  };
  add_options(*add(benchmark::density, "I: build, use and destroy a data structure"), asked.asked.density);
  add_options(*add(benchmark::locality, "II: access what long use has shuffled"), asked.asked.locality);
  add_options(*add(benchmark::utilization, "III: replace the oldest of the live blocks, again and again"),
              asked.asked.utilization);
  add_options(*add(benchmark::contention, "IV: allocate and free in several threads"),
              asked.asked.contention);
  add_options(*add(benchmark::expansion, "Push elements back into vectors, and grow blocks by a command"),
              asked.asked.expansion);
  add_options(*add(benchmark::shrink, "Shrink vectors to fit"), asked.asked.shrink);
  add_options(*add(benchmark::burst, "Insert ranges into a list and erase them"), asked.asked.burst);
  add_options(*add(benchmark::pools, "Allocate and free nodes: ranges, single ones, in threads"),
              asked.asked.pools);

  if (!arguments.parse(argc, argv)) return std::nullopt;
  if (const std::string fault = fault_of(asked.asked); !fault.empty()) return arguments.refuse(fault);
  if (const std::string name = unknown_name(asked); !name.empty())
    return arguments.refuse("unknown strategy " + name + " (see --list-strategies)");
  asked.options.memory_limit = arguments.memory_limit();
  return asked;
}

}  // namespace mallard::bench
