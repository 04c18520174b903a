// signal_relay: the program gets each signal once, whether it is sent to the launcher, to the process group
// of both or by the terminal.
//
//     kill(launcher)      launcher                      --> relayed
//     killpg(group)       launcher, program, witness    --> not relayed, since the witness has it as well
//     Ctrl-C              launcher, program, witness    --> not relayed, since it comes from the kernel
//
// A signal does not say whether it was sent to one process or to a group. So the relay keeps a witness: a
// process of the launcher's group that does nothing but hold its signals back until it is asked which have
// arrived.
//
// The launcher outlives what is meant for the program: it finishes the journal when the program has ended.
// Signals that were ignored at the start stay ignored.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <cstdint>

#include "journal/spool/spool.hpp"

namespace mallard::recorder {

// While it lives, signals that are passed on wait: one that ended the launcher while it makes its files would
// leave them behind. Processes that it starts meanwhile inherit that.
class held_signals {
 public:
  held_signals() noexcept;
  ~held_signals();
  held_signals(const held_signals&) = delete;
  held_signals& operator=(const held_signals&) = delete;

 private:
  sigset_t before_;
};

class signal_relay {
 public:
  // One at a time. A signal, and the end of the program, ring the spool's doorbell. Throws std::system_error.
  signal_relay(pid_t program, journal::spool_header* spool);
  // Ignores from now on what it would have passed on: there is no program any more, and the doorbell may go.
  ~signal_relay();
  signal_relay(const signal_relay&) = delete;
  signal_relay& operator=(const signal_relay&) = delete;

  // Passes on what has arrived since the last call and has not reached the program by itself.
  void pass_on();

 private:
  // The signals that have reached the group since it was asked last, as a set of bits.
  [[nodiscard]] std::uint64_t ask_witness();

  pid_t program_;
  pid_t witness_ = -1;
  int to_witness_ = -1;  // a byte asks; closing it ends the witness
};

// From now on a write that cannot succeed, into a full file or a pipe that nobody reads, fails and does not
// end the launcher. What is started afterwards does not inherit that.
void survive_failed_writes();

}  // namespace mallard::recorder
