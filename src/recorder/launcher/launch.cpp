#include "recorder/launcher/launch.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

#include "journal/event_source.hpp"
#include "recorder/launcher/child.hpp"
#include "recorder/launcher/exec_watch.hpp"
#include "recorder/launcher/library.hpp"
#include "recorder/launcher/recording.hpp"
#include "recorder/launcher/signal_relay.hpp"
#include "recorder/launcher/tell.hpp"

namespace mallard::recorder {
namespace {

constexpr int no_journal = 2;
constexpr long longest_sleep = 10'000'000;  // ns

std::string cannot_write(const std::string& path, const journal::error& problem) {
  return "cannot write " + path + ": " + problem.what();
}

// Does `step`; false if the journal at `path` could not be written, which the user is told.
template <class Step>
bool written(Step&& step, const std::string& path, const char* consequence) {
  try {
    step();
    return true;
  } catch (const journal::error& problem) {
    tell(cannot_write(path, problem) + consequence);
    return false;
  }
}

// Reads the rings until the program has ended, and completes the journal.
ending follow(child& process, exec_watch watch, recording& what, const std::string& path) {
  spool_header* spool = what.spool().header();
  const std::uint64_t few = spool->options.ring_words / (8 * max_event_words);  // not worth staying awake for
  std::optional<ending> end;
  for (; !(end = process.poll()); spool->heartbeat.fetch_add(1)) {
    std::uint64_t taken = 0;
    if (spool->stopped == 0) {
      const bool good =
          written([&] { taken = what.read(); }, path, "; recording ends here, the program goes on");
      if (!good) spool->stopped = 1;
      what.spool().prepare();
    }
    if (taken > few) continue;
    if (const std::string other = watch.look(); !other.empty())
      tell("the program became " + other + " by exec; what that does is not recorded");
    what.spool().sleep(longest_sleep);
  }
  if (spool->stopped == 0) written([&] { what.finish(*end); }, path, "");
  return *end;
}

// Why there is nothing in the journal, where that is not the program's own doing; else empty.
std::string why_nothing(const recording& what, const std::string& name) {
  if (what.state().attached == 0)
    return "nothing recorded: the recorder was not loaded into " + name +
           "; lines of ld.so above may say why, and a program started with another environment hides from it";
  if (what.events() == 0 && what.state().bypassed != 0)
    return "nothing recorded: " + name + " has its own malloc inside, which the recorder cannot see";
  return {};
}

// Removes a journal that holds nothing; a device or a pipe stays.
void discard(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(std::filesystem::symlink_status(path, ignored)))
    std::filesystem::remove(path, ignored);
}

void sum_up(const recording& what, const std::string& path) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  tell(path + ": " + std::to_string(what.events()) + " events, " + std::to_string(error ? 0 : bytes) +
       " bytes");
  if (what.state().gave_up != 0)
    tell("the program waited in vain for a second, so its recording ended early");
  if (what.state().bypassed != 0)
    tell("the program has its own malloc inside; what that serves is not recorded");
  if (what.damaged())
    tell("the program has overwritten a part of the recording; what followed there is lost");
}

int follow_and_tell(child& process, const options& chosen, const program_file& program,
                    const std::string& path) {
  const std::string& name = chosen.command.front();
  recording what(chosen, program, process.process());
  relay_signals(process.process(), what.spool().header());
  if (const int reason = process.go()) {
    tell("cannot run " + name + ": " + std::strerror(reason));
    discard(path);
    return exit_code_of(reason == ENOENT ? reach::not_found : reach::not_executable);
  }
  const ending end = follow(process, exec_watch(process.process(), program.culprit), what, path);
  if (const std::string reason = why_nothing(what, name); !reason.empty()) {
    tell(reason);
    discard(path);
    return no_journal;
  }
  sum_up(what, path);
  return end.status;
}

}  // namespace

int launch(const options& chosen, const program_file& program) {
  survive_failed_writes();
  const std::string library = find_library();
  child process(program.path, chosen.command,
                [&](pid_t id) { return recording_environment(library, spool_path(chosen, id)); });
  const std::string path = journal_path(chosen, process.process());
  try {
    return follow_and_tell(process, chosen, program, path);
  } catch (const journal::error& problem) {
    tell(cannot_write(path, problem));
    return no_journal;
  }
}

}  // namespace mallard::recorder
