// child: the recorded program's process, from fork to its end.
//
//     fork --> [waits] --go()--> exec --> ... --poll()--> how it ended
//
// It waits between fork and exec, so that files named by its process id can be made first; it exits if the
// launcher does. Its signals, descriptors and terminal are the launcher's.
//
// What it is started with: libmallard-record.so, and the environment by which the dynamic linker loads it
// into the program.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

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
  void close_pipes() noexcept;

  pid_t process_ = -1;
  int go_ = -1;      // a byte lets it exec
  int report_ = -1;  // brings the errno of a failed exec, or the end of file
};

// The path of the library: what MALLARD_RECORD_LIBRARY says, beside the launcher, or where it is installed.
// Throws std::runtime_error with one line if there is none, or if the dynamic linker could not take its path.
[[nodiscard]] std::string find_library();

// This process's environment, with the library before what is preloaded already, and the spool's path.
[[nodiscard]] std::vector<std::string> recording_environment(const std::string& library,
                                                             const std::string& spool);

}  // namespace mallard::recorder
