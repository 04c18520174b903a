// process_watch: whether a process that is not this one's child has ended.
//
// It holds a descriptor of the process, so that a later process of the same id is not mistaken for it. If the
// system gives none, though the process exists, its id has to do.
#pragma once

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace mallard::recorder {

class process_watch {
 public:
  explicit process_watch(pid_t process) noexcept
      : process_(process),
        descriptor_(static_cast<int>(syscall(SYS_pidfd_open, process, 0))),
        was_gone_(descriptor_ < 0 && errno == ESRCH) {}
  ~process_watch() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  process_watch(const process_watch&) = delete;
  process_watch& operator=(const process_watch&) = delete;

  [[nodiscard]] bool is_over() const noexcept {
    if (was_gone_) return true;
    if (descriptor_ < 0) return kill(process_, 0) != 0 && errno == ESRCH;
    pollfd process{.fd = descriptor_, .events = POLLIN, .revents = 0};
    return poll(&process, 1, 0) == 1;
  }

 private:
  pid_t process_;
  int descriptor_;
  bool was_gone_;
};

}  // namespace mallard::recorder
