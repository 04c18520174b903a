// exec_watch: notices that the recorded process has become another program by exec.
//
//     run_server.sh (recorded) --exec--> server (not recorded, and the user should know)
//
// The recorder does not follow an exec, so that a child's environment is the one the user gave. Looks
// at the file behind /proc/PID/exe, a system call a look; what comes and ends between two looks is missed.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace mallard::recorder {

class exec_watch {
 public:
  // `process` has begun as the program in the file `program`, and may be another one already.
  exec_watch(pid_t process, const std::string& program);

  // The path of the other program, once: when it is seen first. Else empty.
  [[nodiscard]] std::string look();

 private:
  using file_identity = std::pair<std::uint64_t, std::uint64_t>;  // device, inode: a path can change

  [[nodiscard]] static std::optional<file_identity> identity_of(const std::string& path);

  std::string link_;
  std::optional<file_identity> recorded_;  // nothing: it cannot be told, or all is told
};

}  // namespace mallard::recorder
