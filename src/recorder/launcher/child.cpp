#include "recorder/launcher/child.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "journal/spool/spool.hpp"
#include "recorder/clock.hpp"

namespace mallard::recorder {
namespace {

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// A text file without "#!" is the shell's to run, as execvp and every shell have it.
void execute(const std::string& path, std::vector<std::string> arguments,
             const std::vector<std::string>& environment) {
  const auto variables = pointers_to(environment);
  execve(path.c_str(), pointers_to(arguments).data(), variables.data());
  if (errno != ENOEXEC) return;
  arguments.front() = path;
  arguments.insert(arguments.begin(), "sh");
  execve("/bin/sh", pointers_to(arguments).data(), variables.data());
}

// A process that has ended and was not waited for still says so.
bool is_in_strict_mode(pid_t process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line == "Seccomp:\t1") return true;
  return false;
}

constexpr char file_name[] = "libmallard-record.so";

std::filesystem::path look_for_it() {
  if (const char* given = std::getenv("MALLARD_RECORD_LIBRARY")) return given;
  const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  std::filesystem::path beside = folder / file_name;
  if (std::filesystem::exists(beside)) return beside;
  return folder / MALLARD_PRELOAD_FROM_BIN / file_name;
}

}  // namespace

child::child(const std::string& path, const std::vector<std::string>& arguments,
             const environment_of& environment) {
  int go[2];
  int report[2];
  if (pipe2(go, O_CLOEXEC) != 0 || pipe2(report, O_CLOEXEC) != 0 || (process_ = fork()) < 0)
    throw std::system_error(errno, std::generic_category(), "cannot start a process");
  if (process_ == 0) {
    close(go[1]);
    char permission = 0;
    if (read(go[0], &permission, 1) != 1) _exit(1);
    execute(path, arguments, environment(getpid()));
    const int reason = errno;
    [[maybe_unused]] const auto written = write(report[1], &reason, sizeof reason);
    _exit(1);
  }
  close(go[0]);
  close(report[1]);
  go_ = go[1];
  report_ = report[0];
}

child::~child() { close_pipes(); }

int child::go() {
  if (write(go_, "", 1) != 1) return errno == EPIPE ? 0 : errno;  // it has ended already, and poll() says how
  int reason = 0;
  ssize_t got = 0;
  do got = read(report_, &reason, sizeof reason);
  while (got < 0 && errno == EINTR);
  close_pipes();
  return got == sizeof reason ? reason : 0;
}

void child::close_pipes() noexcept {
  for (int* pipe : {&go_, &report_})
    if (const int open = std::exchange(*pipe, -1); open >= 0) close(open);
}

std::optional<ending> child::poll() {
  siginfo_t about{};
  if (waitid(P_PID, static_cast<id_t>(process_), &about, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      about.si_pid == 0)
    return std::nullopt;
  ending end;
  end.cpu_ns = cpu_ns_of(process_);  // while there is a process to ask
  end.strict = is_in_strict_mode(process_);
  int status = 0;
  waitpid(process_, &status, 0);
  end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  end.status = end.signal != 0 ? 128 + end.signal : WEXITSTATUS(status);
  return end;
}

std::string find_library() {
  const std::filesystem::path found = look_for_it();
  std::error_code error;
  std::string path = std::filesystem::canonical(found, error).string();
  if (error) throw std::runtime_error("cannot find " + found.string());
  if (path.find_first_of(" :") != std::string::npos)
    throw std::runtime_error("cannot load " + path +
                             ": the dynamic linker takes no path with a space or a colon");
  return path;
}

std::vector<std::string> recording_environment(const std::string& library, const std::string& spool) {
  constexpr std::string_view preload = "LD_PRELOAD=";
  std::vector<std::string> variables;
  bool preloading = false;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    std::string_view variable = *entry;
    if (!variable.starts_with(preload)) {
      variables.emplace_back(variable);
      continue;
    }
    preloading = true;
    variable.remove_prefix(preload.size());
    variables.push_back(std::string(preload) + library + ":" + std::string(variable));
  }
  if (!preloading) variables.push_back(std::string(preload) + library);
  variables.push_back(std::string(journal::spool_variable) + "=0:0:" + spool);
  return variables;
}

}  // namespace mallard::recorder
