// mallard-replay: a journal in, a table of what other ways to allocate would cost out.

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>

#include "harness/cpu_clock.hpp"
#include "harness/machine.hpp"
#include "harness/terminal.hpp"
#include "journal/open.hpp"
#include "replay/allocator/strategy.hpp"
#include "replay/command_line.hpp"
#include "replay/output/report.hpp"
#include "replay/session/replay_session.hpp"
#include "replay/session/replay_worker.hpp"
#include "replay/trace/part_routes.hpp"
#include "replay/trace/region_trace_builder.hpp"
#include "replay/trace/scheduler.hpp"
#include "replay/trace/size_distribution.hpp"
#include "replay/trace/trace_builder.hpp"

namespace {

namespace harness = mallard::harness;
namespace journal = mallard::journal;
namespace replay = mallard::replay;

// One line on standard error; the exit code for bad input.
int refuse(const std::string& what) {
  std::fprintf(stderr, "mallard-replay: %s\n", what.c_str());
  return 2;
}

// Writes the result to standard output; `exit_code` if it has got there.
int print(const std::string& text, int exit_code) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    return refuse("cannot write to standard output: " + std::string(std::strerror(errno)));
  return exit_code;
}

// Writes the result to a file; `exit_code` if it has got there whole.
int save(const std::string& text, const std::string& path, int exit_code) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) return refuse("cannot write " + path + ": " + std::strerror(errno));
  return exit_code;
}

std::string nothing_in(const replay::trace_facts& facts) {
  if (facts.of == replay::subject::regions) return " holds no regions: nothing to replay by --regions";
  if (facts.region_events != 0) return " holds regions only: add --regions to replay them";
  return " holds no allocation: nothing to replay";
}

replay::trace build_trace(journal::event_source& source, const replay::command& asked) {
  std::optional<replay::part_routes> part;
  if (!asked.part.empty()) part.emplace(asked.part);
  const replay::part_routes* const routes = part ? &*part : nullptr;
  switch (asked.of) {
    case replay::subject::blocks:
      break;
    case replay::subject::regions:
      return replay::build_region_trace(source);
    case replay::subject::threads:
      return replay::build_thread_trace(source, asked.schedule, routes);
  }
  return replay::build_trace(source, routes);
}

// Whether a result would take the place of the journal that it is of.
bool would_replace(const std::string& journal, const std::string& output) {
  std::error_code missing;
  return !output.empty() && std::filesystem::equivalent(journal, output, missing);
}

int replay_journal(const replay::command& asked) try {
  if (would_replace(asked.file, asked.output))
    return refuse(asked.output + " is what is read: name another file with -o");
  const auto source = journal::open(asked.file);
  const replay::trace trace = build_trace(*source, asked);
  const double read_cpu_seconds = static_cast<double>(harness::process_cpu_ns()) / 1e9;
  if (trace.facts().operations() == 0) return refuse(asked.file + nothing_in(trace.facts()));
  harness::watch_for_interrupt();
  replay::replay_session session(trace, asked.options);
  session.run();

  const replay::report_input report{
      asked.file,       source->about().program,         source->warnings(), trace.facts(),
      read_cpu_seconds, harness::this_machine(),         asked.options,      session.rows(),
      session.clock(),  replay::size_distribution(trace)};
  if (session.was_interrupted()) std::fputs("mallard-replay: interrupted; these rows are measured\n", stderr);
  const int measured = session.was_interrupted() ? 130 : session.any_failed() ? 1 : 0;
  const int printed = print(asked.json ? replay::to_json(report) : replay::to_text(report), measured);
  return asked.output.empty() ? printed : save(replay::to_json(report), asked.output, printed);
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
    const auto listed = replay::strategies(asked->of, !asked->part.empty());
    return print(asked->json ? replay::strategies_to_json(listed) : replay::strategies_to_text(listed), 0);
  } catch (const std::exception& e) {
    return refuse(e.what());
  }
}
