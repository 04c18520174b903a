#include "program/arguments.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <string>

#include "harness/tool_arguments.hpp"
#include "program/benchmarks.hpp"
#include "program/group_options.hpp"

namespace mallard::bench {
namespace {

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
