#include "harness/launcher.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "harness/terminal.hpp"

namespace mallard::harness {
namespace {

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  result.reserve(strings.size() + 1);
  for (std::string& s : strings) result.push_back(s.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> worker_environment(const std::vector<std::string>& added) {
  constexpr std::array kept{"PATH",         "HOME",         "TMPDIR",       "LD_LIBRARY_PATH",
                            "ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"};
  std::vector<std::string> result;
  for (const char* name : kept)
    if (const char* value = std::getenv(name)) result.push_back(std::string(name) + "=" + value);
  result.insert(result.end(), added.begin(), added.end());
  return result;
}

// Where a worker's standard error goes: a file without a name, read when the worker has ended.
class error_text {
 public:
  error_text() : descriptor_(::memfd_create("stderr", MFD_CLOEXEC)) {
    if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "memfd_create");
  }
  ~error_text() { ::close(descriptor_); }
  error_text(const error_text&) = delete;
  error_text& operator=(const error_text&) = delete;

  [[nodiscard]] int descriptor() const { return descriptor_; }

  [[nodiscard]] std::string last_line() const {
    std::array<char, 1024> buffer{};
    const off_t length = ::lseek(descriptor_, 0, SEEK_END);
    const off_t from = std::max<off_t>(0, length - static_cast<off_t>(buffer.size()));
    const ssize_t got = ::pread(descriptor_, buffer.data(), buffer.size(), from);
    std::string text(buffer.data(), got < 0 ? 0 : static_cast<std::size_t>(got));
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text.substr(text.rfind('\n') + 1);
  }

 private:
  int descriptor_;
};

class file_actions {
 public:
  explicit file_actions(const error_text& errors) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions_, errors.descriptor(), STDERR_FILENO);
  }
  ~file_actions() { ::posix_spawn_file_actions_destroy(&actions_); }
  file_actions(const file_actions&) = delete;
  file_actions& operator=(const file_actions&) = delete;

  [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

// posix_spawn has no attribute for this, so this process sets the flag, which its child inherits, and clears
// it again. Where the kernel lacks it, the system's policy stays.
class small_pages {
 public:
  explicit small_pages(bool wanted)
      : is_changed_(wanted && ::prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) == 0 &&
                    ::prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) == 0) {}
  ~small_pages() {
    if (is_changed_) ::prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0);
  }
  small_pages(const small_pages&) = delete;
  small_pages& operator=(const small_pages&) = delete;

 private:
  bool is_changed_;
};

// Of a worker: which signals it has blocked.
class attributes {
 public:
  explicit attributes(const sigset_t& blocked) {
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawnattr_setsigmask(&attributes_, &blocked);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK);
  }
  ~attributes() { ::posix_spawnattr_destroy(&attributes_); }
  attributes(const attributes&) = delete;
  attributes& operator=(const attributes&) = delete;

  [[nodiscard]] const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

}  // namespace

outcome launch(const launch_plan& plan) {
  std::vector<std::string> argument_strings{plan.program};
  argument_strings.insert(argument_strings.end(), plan.arguments.begin(), plan.arguments.end());
  std::vector<std::string> environment_strings = worker_environment(plan.environment);
  const std::vector<char*> arguments = pointers(argument_strings);
  const std::vector<char*> environment = pointers(environment_strings);

  const error_text errors;
  const file_actions actions(errors);
  pid_t child = 0;
  int status = 0;
  {
    // Else one that comes after the last question and before there is a worker would end nothing.
    const interrupts_held held;
    const attributes how(held.before());
    const small_pages of_worker(plan.small_pages);
    const int error = ::posix_spawn(&child, plan.program.c_str(), actions.get(), how.get(), arguments.data(),
                                    environment.data());
    if (error != 0) throw std::system_error(error, std::generic_category(), plan.program);
    detail::worker = child;
    if (interrupted()) ::kill(child, SIGKILL);
  }
  siginfo_t ended;
  while (::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) != 0)
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "waitid");
  detail::worker = 0;  // before its number may be another process's
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) return {0, WTERMSIG(status), errors.last_line()};
  return {WEXITSTATUS(status), 0, errors.last_line()};
}

std::string describe(const outcome& end) {
  const std::string text =
      end.signal != 0 ? "ended by signal " + std::to_string(end.signal) + " (" + ::strsignal(end.signal) + ")"
                      : "exited with code " + std::to_string(end.exit_code);
  return end.said.empty() ? text : text + ": " + end.said;
}

}  // namespace mallard::harness
