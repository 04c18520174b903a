// recordings: all processes of one run, each with its spool and its journal.
//
//     FILE          <-- FILE.spool            the program
//     FILE.d/PID    <-- FILE.d/PID.spool      what it forked and executed; PID.2 ... of the same process id
//
// A child makes its spool itself and announces it by a count in the root's. Its recording ends when its
// process has ended, or has become another program that has a spool of its own by now. The lock of its spool
// shows whether it has: process ids may be those of another namespace, and two of those can have the same
// ones. A recording is known by its number. If a journal cannot be written further (a full disk), a message
// says so and this recording alone ends. A process without events leaves no journal. The root's recording
// lasts until the end: its spool has the doorbell of all.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "recorder/clock.hpp"
#include "recorder/launcher/program_file.hpp"
#include "recorder/launcher/record_options.hpp"
#include "recorder/launcher/recording.hpp"
#include "recorder/launcher/spool_file.hpp"

namespace mallard::recorder {

class recordings {
 public:
  // Makes the root's spool and journal, and puts an earlier run at that place aside (recording_files.hpp).
  // The calling thread is the one that reads.
  // Throws std::runtime_error with one line.
  recordings(const record_options& chosen, const program_file& program, pid_t process);
  ~recordings();

  // One round of reading; returns the number of records taken.
  std::uint64_t read();

  // Completes all journals but those of children that still run, which are left to them.
  void finish(const ending& end);

  [[nodiscard]] recording& root() noexcept { return *root_; }
  [[nodiscard]] const recording& root() const noexcept { return *root_; }

  // The programs that ran without being recorded.
  [[nodiscard]] std::vector<journal::child_info> unrecorded() const;

  // Of the children: how many have a journal, with how many events, and how many still ran in the end.
  struct totals {
    std::size_t journals = 0;
    std::uint64_t events = 0;
    std::size_t left = 0;
    bool damaged = false;
    std::string shortfall;  // of the first that lacks something
    std::string unseen;     // of the first of which a part was not seen
  };
  [[nodiscard]] const totals& children() const noexcept { return children_totals_; }
  [[nodiscard]] const std::string& folder() const noexcept { return folder_; }

 private:
  struct child_recording;

  bool read_one(recording& what, std::uint64_t& taken);
  void find_new();
  void finish_those_over();
  void open(const std::string& name);
  void finish(child_recording& what);
  void leave(child_recording& what);
  void add_to_totals(const recording& child);
  [[nodiscard]] recording& parent_of(const child_recording& what);
  void add_to_parent(child_recording& what);

  clock_rate clock_;
  std::string folder_;  // of the children's journals
  unsigned usage_interval_ms_;
  std::unique_ptr<recording> root_;
  std::unique_ptr<reader_lock> lock_;
  std::vector<std::unique_ptr<child_recording>> running_;  // children, in the order of their beginnings
  std::unordered_set<std::string> followed_;               // paths of their journals
  std::uint32_t seen_ = 0;                                 // of the announced ones
  bool want_more_ = false;                                 // there was no descriptor or memory for one
  std::uint64_t unread_ = 0;                               // children whose spool cannot be mapped
  totals children_totals_;
};

}  // namespace mallard::recorder
