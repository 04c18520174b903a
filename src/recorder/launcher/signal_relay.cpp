#include "recorder/launcher/signal_relay.hpp"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <ctime>
#include <system_error>

namespace mallard::recorder {
namespace {

// Those by which others tell a process something. Those that stop and continue it are meant for each process,
// and those by which the kernel ends it are its own.
bool is_relayed(int signal) noexcept {
  switch (signal) {
    case SIGINT:
    case SIGQUIT:
    case SIGTERM:
    case SIGHUP:
    case SIGUSR1:
    case SIGUSR2:
    case SIGALRM:
    case SIGVTALRM:
    case SIGPROF:
    case SIGIO:
    case SIGPWR:
      return true;
    default:
      return signal >= SIGRTMIN && signal <= SIGRTMAX;
  }
}

// Calls `use` with each signal that is passed on.
template <class Use>
void for_each_relayed(const Use& use) {
  for (int signal = 1; signal < NSIG; ++signal)
    if (is_relayed(signal)) use(signal);
}

constexpr std::uint64_t bit_of(int signal) noexcept { return std::uint64_t{1} << (signal - 1); }

std::atomic<std::uint64_t> from_processes{0};  // arrived and not looked at yet
std::atomic<bool> from_the_kernel{false};
std::atomic<std::uint32_t>* doorbell = nullptr;

// Timers that were set before this program took the place of another: only it gets their signals.
constexpr bool is_of_a_timer(int signal) noexcept {
  return signal == SIGALRM || signal == SIGVTALRM || signal == SIGPROF;
}

void note(int signal, siginfo_t* about, void*) {
  if (about->si_code <= 0 || is_of_a_timer(signal))
    from_processes.fetch_or(bit_of(signal));
  else
    from_the_kernel = true;
  doorbell->fetch_add(1);  // the signal itself ends a sleep that has begun
}

void ring_doorbell(int) { doorbell->fetch_add(1); }

// What is ignored stays ignored, here and in the program.
void handle(int signal, const struct sigaction& action) {
  struct sigaction before{};
  sigaction(signal, nullptr, &before);
  if (before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
}

void do_nothing(int) {}  // the write returns the error

sigset_t all_relayed() {
  sigset_t set;
  sigemptyset(&set);
  for_each_relayed([&](int signal) { sigaddset(&set, signal); });
  return set;
}

// Answers each byte with the signals that have arrived since the last one, until there are no more questions.
[[noreturn]] void witness(int asker) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const sigset_t held = all_relayed();
  char asked = 0;
  while (read(asker, &asked, 1) == 1) {
    std::uint64_t arrived = 0;
    const timespec at_once{};
    for (int signal = 0; (signal = sigtimedwait(&held, nullptr, &at_once)) > 0;) arrived |= bit_of(signal);
    if (write(asker, &arrived, sizeof arrived) != sizeof arrived) break;
  }
  _exit(0);
}

}  // namespace

held_signals::held_signals() noexcept {
  const sigset_t held = all_relayed();
  pthread_sigmask(SIG_BLOCK, &held, &before_);
}

held_signals::~held_signals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

signal_relay::signal_relay(pid_t program, journal::spool_header* spool) : program_(program) {
  doorbell = &spool->doorbell;
  int ends[2];
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot make a socket");
  pthread_sigmask(SIG_SETMASK, &all, &before);  // for the witness, from its first moment
  witness_ = fork();
  if (witness_ == 0) {
    // It must not keep open what others see closed by the launcher's end: the spool's lock, the program's
    // pipes.
    dup2(ends[1], 0);
    close_range(1, ~0u, 0);
    witness(0);
  }
  close(ends[1]);
  to_witness_ = ends[0];
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (witness_ < 0) throw std::system_error(errno, std::generic_category(), "cannot start a process");
  static_cast<void>(ask_witness());  // it has closed its files by then
  struct sigaction action{};
  sigfillset(&action.sa_mask);
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  action.sa_sigaction = note;
  for_each_relayed([&](int signal) { handle(signal, action); });
  action.sa_flags = SA_NOCLDSTOP;
  action.sa_handler = ring_doorbell;
  sigaction(SIGCHLD, &action, nullptr);
}

signal_relay::~signal_relay() {
  struct sigaction action{};
  action.sa_handler = SIG_IGN;
  for_each_relayed([&](int signal) { handle(signal, action); });
  action.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &action, nullptr);
  close(to_witness_);
  kill(witness_, SIGKILL);
  while (waitpid(witness_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::uint64_t signal_relay::ask_witness() {
  std::uint64_t arrived = 0;
  if (send(to_witness_, "", 1, MSG_NOSIGNAL) != 1) return 0;
  ssize_t got = 0;
  do got = read(to_witness_, &arrived, sizeof arrived);
  while (got < 0 && errno == EINTR);
  return got == sizeof arrived ? arrived : 0;
}

void signal_relay::pass_on() {
  const bool kernels = from_the_kernel.exchange(false);
  const std::uint64_t arrived = from_processes.exchange(0);
  if (arrived == 0 && !kernels) return;
  // A signal goes to the processes of a group one after the other, under a lock of the kernel that this call
  // takes, too: once it returns, the witness has what the launcher has. It changes nothing.
  setpgid(0, getpgrp());
  const std::uint64_t to_the_group = ask_witness();
  for_each_relayed([&](int signal) {
    if ((arrived & ~to_the_group & bit_of(signal)) != 0) kill(program_, signal);
  });
}

void survive_failed_writes() {
  struct sigaction action{};
  action.sa_flags = SA_RESTART;
  action.sa_handler = do_nothing;
  for (const int signal : {SIGPIPE, SIGXFSZ}) handle(signal, action);
}

}  // namespace mallard::recorder
