// mallard-record: runs a program and records every allocation of it into a journal.
//
//     start:  fork, spool and journal made, exec      loop:  read rings, write, sleep      end:  finish
//
// The exit code is the program's own, 128 + the signal that ended it, or else 2 when there is no journal; a
// line has told the user why. If the journal cannot be written further (a full disk), the program goes on
// unrecorded.
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <filesystem>
#include <optional>
#include <variant>

#include "journal/events/event_source.hpp"
#include "recorder/launcher/child.hpp"
#include "recorder/launcher/recording_files.hpp"
#include "recorder/launcher/recordings.hpp"
#include "recorder/launcher/signal_relay.hpp"

namespace mallard::recorder {
namespace {

constexpr int no_journal = 2;
constexpr long longest_sleep = 10'000'000;  // ns
constexpr long short_sleep = 1'000'000;     // ns, while a program cannot wake the launcher

// Reads the rings until the program has ended, and completes the journals.
ending follow(child& process, recordings& all, signal_relay& signals) {
  spool_file& spool = all.root().spool();
  const std::uint64_t few =
      spool.options().ring_words / (8 * journal::max_event_words);  // fewer are not worth staying awake for
  std::optional<ending> end;
  while (!(end = process.poll())) {
    signals.pass_on();
    if (all.read() <= few) spool.sleep(spool.header()->cannot_ring == 0 ? longest_sleep : short_sleep);
  }
  all.finish(*end);
  return *end;
}

// Why the journal is empty, if the reason is not that the program allocated nothing; else empty.
std::string why_nothing(const recordings& all, const std::string& name, const ending& end) {
  const journal::spool_header& state = all.root().state();
  if (state.attached == 0)
    return "nothing recorded: " +
           (end.signal == 0 ? ""
                            : "signal " + std::to_string(end.signal) + " (" + strsignal(end.signal) +
                                  ") ended " + name + ", maybe before the recorder began in it; or else ") +
           "the recorder was not loaded into " + name +
           "; if ld.so printed lines above, they say why, else LD_PRELOAD was removed from its environment";
  if (state.unmapped != 0)
    return "nothing recorded: " + name +
           " has no address space left for the recorder (ulimit -v); a smaller --buffer takes less";
  if (all.root().events() == 0 && state.bypassed != 0 && all.children().journals == 0)
    return "nothing recorded: " + name + " is linked with a malloc of its own, which the recorder cannot see";
  return {};
}

// Each recorded process takes three descriptors.
void allow_many_files() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
}

// Removes an empty journal; a device or a pipe stays.
void discard(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(std::filesystem::symlink_status(path, ignored)))
    std::filesystem::remove(path, ignored);
}

// Says what to do with the journal, to somebody who watches.
void print_next_step(const std::string& path) {
  if (isatty(STDERR_FILENO) == 1) print_message("to see what was allocated: mallard profile " + path);
}

// One line, however many there are: `mallard info` lists them all.
void print_unrecorded(const std::vector<journal::child_info>& programs, const std::string& journal) {
  if (programs.empty()) return;
  const std::string& program = programs.front().program;
  const std::string& reason = programs.front().reason;
  if (programs.size() == 1)
    print_message(program + " was not recorded, nor what it started: " + reason);
  else
    print_message(std::to_string(programs.size()) +
                  " programs were not recorded, nor what they started; `mallard info " + journal +
                  "` lists them; " + program + ": " + reason);
}

void print_summary(const recordings& all, const std::string& path) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  const auto& children = all.children();
  print_message(path + ": " + std::to_string(all.root().events_in_file()) + " events, " +
                std::to_string(error ? 0 : bytes) + " bytes");
  if (children.journals != 0)
    print_message(all.folder() + ": " + std::to_string(children.events) + " events of children in " +
                  std::to_string(children.journals) + (children.journals == 1 ? " journal" : " journals"));
  if (children.left != 0)
    print_message(
        std::to_string(children.left) +
        (children.left == 1 ? " child still runs; what it does" : " children still run; what they do") +
        " from now on is recorded into " + all.folder() + " as long as there is room in the rings");
  for (const std::string& line :
       {all.root().unseen(), children.unseen, all.root().shortfall(), children.shortfall})
    if (!line.empty()) print_message(line);
  print_unrecorded(all.unrecorded(), path);
  if (all.root().damaged() || children.damaged)
    print_message(
        "the program has overwritten a part of the recording; the events after that point are lost");
}

int record(child& process, const record_options& chosen, const program_file& program,
           const std::string& path) {
  const std::string& name = chosen.command.front();
  std::optional<held_signals> held(std::in_place);
  recordings all(chosen, program, process.process());
  signal_relay signals(process.process(), all.root().spool().header());
  held.reset();
  if (const int reason = process.go()) {
    print_message("cannot run " + name + ": " + std::strerror(reason));
    discard(path);
    return exit_code_of(reason == ENOENT ? reach::not_found : reach::not_executable);
  }
  allow_many_files();
  const ending end = follow(process, all, signals);
  if (const std::string reason = why_nothing(all, name, end); !reason.empty()) {
    print_message(reason);
    discard(path);
    return end.signal != 0 ? end.status : no_journal;
  }
  print_summary(all, path);
  print_next_step(path);
  return end.status;
}

int launch(const record_options& chosen, const program_file& program) {
  survive_failed_writes();
  const std::string library = find_library();
  child process(program.path, chosen.command,
                [&](pid_t id) { return recording_environment(library, spool_path(chosen, id)); });
  const std::string path = journal_path(chosen, process.process());
  try {
    return record(process, chosen, program, path);
  } catch (const journal::error& problem) {
    print_message("cannot write " + path + ": " + problem.what());
    return no_journal;
  }
}

int run(int argc, char** argv) {
  const auto parsed = parse_options(argc, argv);
  if (const int* code = std::get_if<int>(&parsed)) return *code;
  const auto& chosen = std::get<record_options>(parsed);
  const program_file program = find_program(chosen.command.front());
  if (program.verdict != reach::recordable) {
    print_message(explain(program, chosen.command.front()));
    return exit_code_of(program.verdict);
  }
  if (const std::string line = caution(program); !line.empty()) print_message(line);
  return launch(chosen, program);
}

}  // namespace
}  // namespace mallard::recorder

int main(int argc, char** argv) {
  try {
    return mallard::recorder::run(argc, argv);
  } catch (const std::exception& problem) {
    mallard::recorder::print_message(problem.what());
    return 2;
  }
}
