#include "p0089/arguments.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>

#include "harness/bytes.hpp"
#include "harness/memory_meter.hpp"
#include "p0089/benchmarks.hpp"
#include "p0089/locality/notation.hpp"

namespace mallard::p0089 {
namespace {

int refuse(const std::string& what) {
  std::fprintf(stderr, "mallard-bench: %s\n", what.c_str());
  return 2;
}

std::string unknown_name(const command& asked) {
  const auto all = contestants(asked.asked.which);
  for (const std::string& name : asked.options.names)
    if (std::ranges::none_of(all, [&](const contestant& c) { return is_meant(c, name); })) return name;
  return {};
}

// Binary exponents: 2^40 of anything is more than there is.
const CLI::Range exponent(0, 40);

void add_density(CLI::App& app, density_setting& into) {
  app.add_option("--structure", into.structure, "Data structure, 1 for DS1 to 12")->check(CLI::Range(1, 12));
  app.add_option("--size", into.size, "It has 2^N elements")->check(exponent);
  app.add_option("--leaves", into.leaves, "Iterations go on until 2^N leaves are written")->check(exponent);
  app.add_flag("--cached-hashes,!--uncached-hashes", into.cached_hashes,
               "Whether nodes of sets keep their hashes (they do)");
}

void add_locality(CLI::App& app, locality_setting& into) {
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

void add_utilization(CLI::App& app, utilization_setting& into) {
  app.add_option("--total", into.total, "2^N bytes are allocated in all (T)")->check(exponent);
  app.add_option("--active", into.active, "2^N bytes are alive at a time (A)")->check(exponent);
  app.add_option("--block", into.block, "A block has 2^N bytes (S)")->check(exponent);
}

void add_contention(CLI::App& app, contention_setting& into) {
  app.add_option("--iterations", into.iterations, "Each thread allocates and frees 2^N blocks (N)")
      ->check(exponent);
  app.add_option("--block", into.block, "A block has 2^N bytes (S)")->check(exponent);
  app.add_option("--threads", into.threads, "Threads at it at once (W)")->check(CLI::Range(1, 64));
}

}  // namespace

std::optional<command> parse_arguments(int argc, char** argv, int& exit_code) {
  command asked;
  std::string memory_limit;
  CLI::App app{"Measures one group of a benchmark of P0089: one line of one of its tables. Prints JSON.",
               "mallard-bench"};
  app.require_subcommand(1);
  app.fallthrough();
  app.add_option("--strategy", asked.options.names, "Only these beside AS1, as AS7 or multipool")
      ->type_name("NAME");
  app.add_option("--rounds", asked.options.rounds, "Fresh processes a strategy, at least (default 5)")
      ->check(CLI::Range(1, 1000))
      ->type_name("N");
  app.add_option("--memory-limit", memory_limit,
                 "Memory a strategy may take, as 512M or 4G (default: half of what is available)")
      ->type_name("BYTES");
  app.add_option("--litter", asked.asked.litter,
                 "Litter the heap beforehand with this many times the live objects (default 0: a fresh heap)")
      ->check(CLI::Range(0, 100))
      ->type_name("K");
  app.add_flag("--list-strategies", asked.list_strategies, "List the strategies and stop");

  const auto add = [&](benchmark which, const char* summary) {
    CLI::App* const sub = app.add_subcommand(std::string(name_of(which)), summary);
    sub->callback([&asked, which] { asked.asked.which = which; });
    return sub;
  };
  add_density(*add(benchmark::density, "I: build, use and destroy a data structure"), asked.asked.density);
  add_locality(*add(benchmark::locality, "II: access what long use has shuffled"), asked.asked.locality);
  add_utilization(*add(benchmark::utilization, "III: replace the oldest of the live blocks, again and again"),
                  asked.asked.utilization);
  add_contention(*add(benchmark::contention, "IV: allocate and free in several threads"),
                 asked.asked.contention);

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    exit_code = app.exit(e);
    return std::nullopt;
  } catch (const CLI::ParseError& e) {
    exit_code = refuse(std::string(e.what()) + " (see --help)");
    return std::nullopt;
  }
  exit_code = 2;
  if (const std::string fault = fault_of(asked.asked); !fault.empty()) return refuse(fault), std::nullopt;
  if (const std::string name = unknown_name(asked); !name.empty())
    return refuse("unknown strategy " + name + " (see --list-strategies)"), std::nullopt;
  asked.options.memory_limit = harness::available_memory() / 2;
  if (!memory_limit.empty()) {
    const auto bytes = harness::parse_bytes(memory_limit);
    if (!bytes)
      return refuse("--memory-limit " + memory_limit + " is not a size; write 512M or 4G"), std::nullopt;
    asked.options.memory_limit = *bytes;
  }
  return asked;
}

}  // namespace mallard::p0089
