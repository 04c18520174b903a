// options: what mallard-bench's subcommands for the benchmarks of P0089 take, beside what all take.
#pragma once

#include "contest/setting.hpp"

namespace CLI {
class App;
}

namespace mallard::bench {

// Adds the options that set one group; `into` holds their defaults and must outlive the parsing.
void add_options(CLI::App& app, density_setting& into);
void add_options(CLI::App& app, locality_setting& into);
void add_options(CLI::App& app, utilization_setting& into);
void add_options(CLI::App& app, contention_setting& into);

}  // namespace mallard::bench
