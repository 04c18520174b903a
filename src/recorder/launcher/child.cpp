#include "recorder/launcher/child.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <initializer_list>
#include <system_error>

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

volatile pid_t relayed_to = 0;
std::atomic<std::uint32_t>* doorbell = nullptr;

void relay(int signal, siginfo_t* about, void*) {
  const int saved_errno = errno;
  const bool from_a_process = about->si_code <= 0;  // the terminal's come from the kernel
  if (from_a_process) kill(relayed_to, signal);
  errno = saved_errno;
}

void ring_doorbell(int) { doorbell->fetch_add(1); }  // the signal itself ends a sleep that has begun

// What is ignored stays ignored, here and in the program.
void handle(int signal, const struct sigaction& action) {
  struct sigaction before{};
  sigaction(signal, nullptr, &before);
  if (before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
}

// A process that has ended and was not waited for still says so.
bool is_in_strict_mode(pid_t process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line == "Seccomp:\t1") return true;
  return false;
}

void do_nothing(int) {}  // the write returns the error

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

child::~child() {
  close(go_);
  close(report_);
}

int child::go() {
  if (write(go_, "", 1) != 1) return errno;
  int reason = 0;
  ssize_t got = 0;
  do got = read(report_, &reason, sizeof reason);
  while (got < 0 && errno == EINTR);
  return got == sizeof reason ? reason : 0;
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

void relay_signals(pid_t process, journal::spool_header* spool) {
  relayed_to = process;
  doorbell = &spool->doorbell;
  struct sigaction action{};
  sigfillset(&action.sa_mask);
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  action.sa_sigaction = relay;
  for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2}) handle(signal, action);
  action.sa_flags = SA_NOCLDSTOP;
  action.sa_handler = ring_doorbell;
  sigaction(SIGCHLD, &action, nullptr);
}

void survive_failed_writes() {
  struct sigaction action{};
  action.sa_flags = SA_RESTART;
  action.sa_handler = do_nothing;
  for (const int signal : {SIGPIPE, SIGXFSZ}) handle(signal, action);
}

}  // namespace mallard::recorder
