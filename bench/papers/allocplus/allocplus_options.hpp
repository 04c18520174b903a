// options: what mallard-bench's subcommands for the benchmarks of seed 001 take, beside what all take.
#pragma once

#include "contest/setting.hpp"

namespace CLI {
class App;
}

namespace mallard::bench {

// Adds the options that set one group; `into` holds their defaults and must outlive the parsing.
void add_options(CLI::App& app, expansion_setting& into);
void add_options(CLI::App& app, shrink_setting& into);
void add_options(CLI::App& app, burst_setting& into);
void add_options(CLI::App& app, pools_setting& into);

}  // namespace mallard::bench
