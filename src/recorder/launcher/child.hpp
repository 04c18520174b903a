// child: the recorded program's process, from fork to its end.
//
//     fork --> [waits] --go()--> exec --> ... --poll()--> how it ended
//
// It waits between fork and exec, so that files named by its process id can be made first; it exits if the
// launcher does. Its signals, descriptors and terminal are the launcher's.
//
// The launcher outlives what is meant for the program. A signal from the terminal (Ctrl-C) reaches both; the
// launcher ignores it and finishes the journal when the program has ended. It passes on a signal that a
// process sent to it; one that was sent to the whole process group reaches the program twice.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "journal/spool/spool.hpp"

namespace mallard::recorder {

struct ending {
  int status = 0;            // as a shell gives it: the exit code, or 128 + signal
  int signal = 0;            // the one that ended it, or 0
  bool strict = false;       // it was in seccomp's strict mode
  std::uint64_t cpu_ns = 0;  // of the process alone
};

class child {
 public:
  using environment_of = std::function<std::vector<std::string>(pid_t)>;

  // Forks; the child calls `environment` for its "NAME=value" strings once go() is called. Throws
  // std::system_error.
  child(const std::string& path, const std::vector<std::string>& arguments,
        const environment_of& environment);
  ~child();
  child(const child&) = delete;
  child& operator=(const child&) = delete;

  // Lets it exec; returns 0, or the errno of the failure.
  [[nodiscard]] int go();

  // How it ended, once it has.
  [[nodiscard]] std::optional<ending> poll();

  [[nodiscard]] pid_t process() const noexcept { return process_; }

 private:
  pid_t process_ = -1;
  int go_ = -1;      // a byte lets it exec
  int report_ = -1;  // brings the errno of a failed exec, or the end of file
};

// Begins to relay to `process`; once per launcher. Signals that are ignored stay ignored. The end of the
// program rings the spool's doorbell, which wakes the launcher.
void relay_signals(pid_t process, journal::spool_header* spool);

// From now on a write that cannot succeed, into a full file or a pipe that nobody reads, fails and does not
// end the launcher. What is started afterwards does not inherit that.
void survive_failed_writes();

}  // namespace mallard::recorder
