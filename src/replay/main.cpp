// mallard-replay: a journal in, a table of what other ways to allocate would cost out.

#include <cstdio>
#include <cstring>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>

#include "harness/cpu_clock.hpp"
#include "harness/interrupt.hpp"
#include "harness/machine.hpp"
#include "journal/event_source.hpp"
#include "replay/command_line.hpp"
#include "replay/report.hpp"
#include "replay/session.hpp"
#include "replay/trace_builder.hpp"
#include "replay/worker.hpp"

namespace {

using namespace mallard;

void print_strategies(bool as_json) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const replay::strategy& s : replay::strategies()) {
    if (as_json)
      list.push_back({{"strategy", s.name}, {"binding", replay::name_of(s.bound)}, {"summary", s.summary}});
    else
      std::printf("%-20s %-7s %s\n", s.name.c_str(), std::string(replay::name_of(s.bound)).c_str(),
                  s.summary.c_str());
  }
  if (as_json) std::printf("%s\n", list.dump(2).c_str());
}

// One line on standard error; the exit code for bad input.
int refuse(const std::string& what) {
  std::fprintf(stderr, "mallard-replay: %s\n", what.c_str());
  return 2;
}

int replay_journal(const replay::command& asked) try {
  const auto source = journal::open(asked.file);
  const replay::trace trace = replay::build_trace(*source);
  const double read_cpu_seconds = static_cast<double>(harness::process_cpu_ns()) / 1e9;
  if (trace.facts().operations() == 0) return refuse(asked.file + " holds no allocation: nothing to replay");
  harness::watch_for_interrupt();
  replay::session session(trace, asked.options);
  session.run();

  const replay::report_input report{asked.file,    source->about().program, source->warnings(),
                                    trace.facts(), read_cpu_seconds,        harness::this_machine(),
                                    asked.options, session.rows()};
  const std::string text = asked.json ? replay::to_json(report) : replay::to_text(report);
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (session.was_interrupted()) return 130;
  return session.any_failed() ? 1 : 0;
} catch (const journal::error& e) {
  return refuse("cannot read " + asked.file + ": " + e.what());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], replay::worker_flag) == 0) replay::be_worker(argc, argv);
  try {
    int exit_code = 0;
    const auto asked = replay::parse_command_line(argc, argv, exit_code);
    if (!asked) return exit_code;
    if (!asked->list_strategies) return replay_journal(*asked);
    print_strategies(asked->json);
    return 0;
  } catch (const std::exception& e) {
    return refuse(e.what());
  }
}
