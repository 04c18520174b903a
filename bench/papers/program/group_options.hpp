// group_options: what each of mallard-bench's subcommands takes beside what all take.
#pragma once

#include "common/setting.hpp"

namespace CLI {
class App;
}

namespace mallard::bench {

// Adds the options that set one group; `into` holds their defaults and must outlive the parsing.
void add_options(CLI::App& app, density_setting& into);
void add_options(CLI::App& app, locality_setting& into);
void add_options(CLI::App& app, utilization_setting& into);
void add_options(CLI::App& app, contention_setting& into);
void add_options(CLI::App& app, expansion_setting& into);
void add_options(CLI::App& app, shrink_setting& into);
void add_options(CLI::App& app, burst_setting& into);
void add_options(CLI::App& app, pools_setting& into);

}  // namespace mallard::bench
