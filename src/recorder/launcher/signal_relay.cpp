#include "recorder/launcher/signal_relay.hpp"

#include <cerrno>
#include <csignal>
#include <initializer_list>

namespace mallard::recorder {
namespace {

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

void do_nothing(int) {}  // the write returns the error

}  // namespace

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
