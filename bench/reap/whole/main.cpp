// whole-programs: runs the programs over regions whole, over each kind of memory in turn.
//
//     whole-programs FOLDER [--program NAME] [--times N] [--strategy NAME]... [--json]
//
// FOLDER has the builds of the programs and, in standard/, what they are run on. Exit code 0, 1 if a row
// failed, 2 if something is wrong with the arguments, 130 if interrupted.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/terminal.hpp"
#include "whole/build_runs.hpp"

namespace {

using namespace mallard;

struct asked {
  std::string folder;
  std::vector<std::string> programs = {"interpreter", "compiler"};
  std::vector<std::string> strategies;
  std::size_t times = 2;
  bool json = false;
};

int run(const asked& a) {
  const std::vector<whole::build> all = whole::builds(a.strategies);
  nlohmann::ordered_json tables = nlohmann::ordered_json::array();
  bool failed = false;
  for (const std::string& program : a.programs) {
    const std::vector<whole::row> rows =
        whole::measure({a.folder, program, a.folder + "/standard/" + program + ".txt"}, all, a.times);
    failed = failed || std::ranges::any_of(
                           rows, [](const whole::row& r) { return r.status == harness::row_status::failed; });
    if (a.json)
      tables.push_back(whole::as_json(program, rows));
    else
      std::printf("%s\n", whole::as_text(program, rows).c_str());
    if (harness::interrupted()) break;
  }
  std::printf("%s", a.json ? (tables.dump(2) + "\n").c_str() : whole::method().c_str());
  if (harness::interrupted()) return 130;
  return failed ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) try {
  asked a;
  CLI::App app("Runs programs over regions whole, over each kind of memory in turn.");
  app.add_option("folder", a.folder, "where the programs are")->required()->check(CLI::ExistingDirectory);
  app.add_option("--program", a.programs, "interpreter or compiler; both, if none is named")
      ->check(CLI::IsMember({"interpreter", "compiler"}));
  app.add_option("--strategy", a.strategies,
                 "only these, beside region: sized_reap, 'individual jemalloc' ...");
  app.add_option("--times", a.times, "rounds for each of the five shifts")->check(CLI::Range(1, 1000));
  app.add_flag("--json", a.json, "the tables as JSON");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  harness::watch_for_interrupt();
  return run(a);
} catch (const std::exception& e) {
  std::fprintf(stderr, "whole-programs: %s\n", e.what());
  return 2;
}
