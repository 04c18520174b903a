#include "recorder/launcher/launch.hpp"

#include <sys/resource.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

#include "journal/event_source.hpp"
#include "recorder/launcher/child.hpp"
#include "recorder/launcher/library.hpp"
#include "recorder/launcher/recordings.hpp"
#include "recorder/launcher/signal_relay.hpp"
#include "recorder/launcher/tell.hpp"

namespace mallard::recorder {
namespace {

constexpr int no_journal = 2;
constexpr long longest_sleep = 10'000'000;  // ns

// Reads the rings until the program has ended, and completes the journals.
ending follow(child& process, recordings& all) {
  spool_file& spool = all.root().spool();
  const std::uint64_t few =
      spool.ring_words() / (8 * journal::max_event_words);  // not worth staying awake for
  std::optional<ending> end;
  while (!(end = process.poll()))
    if (all.read() <= few) spool.sleep(longest_sleep);
  all.finish(*end);
  return *end;
}

// Why there is nothing in the journal, where that is not the program's own doing; else empty.
std::string why_nothing(const recordings& all, const std::string& name) {
  const journal::spool_header& state = all.root().state();
  if (state.attached == 0)
    return "nothing recorded: the recorder was not loaded into " + name +
           "; lines of ld.so above may say why, and a program started with another environment hides from it";
  if (all.root().events() == 0 && state.bypassed != 0 && all.children().journals == 0)
    return "nothing recorded: " + name + " has its own malloc inside, which the recorder cannot see";
  return {};
}

// Each process that is recorded takes three descriptors.
void allow_many_files() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
}

// Removes a journal that holds nothing; a device or a pipe stays.
void discard(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(std::filesystem::symlink_status(path, ignored)))
    std::filesystem::remove(path, ignored);
}

void sum_up(const recordings& all, const std::string& path) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  const auto& children = all.children();
  tell(path + ": " + std::to_string(all.root().events_in_file()) + " events, " +
       std::to_string(error ? 0 : bytes) + " bytes");
  if (children.journals != 0)
    tell(all.folder() + ": " + std::to_string(children.events) + " events of children in " +
         std::to_string(children.journals) + (children.journals == 1 ? " journal" : " journals"));
  if (children.left != 0)
    tell(std::to_string(children.left) +
         (children.left == 1 ? " child still runs; what it does" : " children still run; what they do") +
         " from now on is recorded into " + all.folder() + " as long as there is room in the rings");
  for (const std::string& module : {all.root().deep_bound(), children.deep_bound})
    if (!module.empty())
      tell(module + " was opened with RTLD_DEEPBIND; what a module opened so allocates is not recorded");
  if (all.root().state().contexts_wanting != 0 || children.without_stacks)
    tell("there was no room for all stacks in a spool; some events are recorded without theirs");
  if (all.root().state().children_lost != 0)
    tell("a child could not make its spool in " + all.folder() +
         " (no room, or a limit on the size of files), so it is not recorded");
  if (all.root().state().gave_up != 0)
    tell("the program waited in vain for a second, so its recording ended early");
  if (all.root().state().bypassed != 0)
    tell("the program has its own malloc inside; what that serves is not recorded");
  if (all.root().damaged() || children.damaged)
    tell("the program has overwritten a part of the recording; what followed there is lost");
}

int follow_and_tell(child& process, const options& chosen, const program_file& program,
                    const std::string& path) {
  const std::string& name = chosen.command.front();
  recordings all(chosen, program, process.process());
  relay_signals(process.process(), all.root().spool().header());
  if (const int reason = process.go()) {
    tell("cannot run " + name + ": " + std::strerror(reason));
    discard(path);
    return exit_code_of(reason == ENOENT ? reach::not_found : reach::not_executable);
  }
  allow_many_files();
  const ending end = follow(process, all);
  if (const std::string reason = why_nothing(all, name); !reason.empty()) {
    tell(reason);
    discard(path);
    return no_journal;
  }
  sum_up(all, path);
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
    tell("cannot write " + path + ": " + problem.what());
    return no_journal;
  }
}

}  // namespace mallard::recorder
