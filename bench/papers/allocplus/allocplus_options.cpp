#include "allocplus/allocplus_options.hpp"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <string>

namespace mallard::bench {
namespace {

void add_sizes(CLI::App& app, std::uint32_t& elements, const char* of, std::uint32_t& iterations,
               const char* how_often) {
  app.add_option("--elements", elements, of)->check(CLI::Range(1, 100'000'000));
  app.add_option("--iterations", iterations, how_often)->check(CLI::Range(1, 100'000'000));
}

}  // namespace

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

}  // namespace mallard::bench
