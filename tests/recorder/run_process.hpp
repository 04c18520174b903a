// Runs real processes for the recorder's tests and reads what they left.
//
// Programs run with their output caught; the recorder is the one of this build.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "journal/events/event_batch.hpp"
#include "journal/events/metadata.hpp"
#include "journal/events/process_tables.hpp"
#include "journal/events/table.hpp"
#include "scratch_folder.hpp"

namespace mallard::test {

using journal::event_kind;

struct run_result {
  int status = -1;  // as a shell gives it
  std::string out;
  std::string err;
};

// A process that runs while the test looks on.
class running {
 public:
  explicit running(const std::vector<std::string>& command);
  void wait_for_output(const std::string& text);  // until standard output contains it, or ends
  void wait_for_end() const;                      // of the process, though others may hold its output open
  void close_input();
  [[nodiscard]] run_result finish();  // closes the input, waits for the end and all output
  [[nodiscard]] pid_t process() const noexcept { return process_; }

 private:
  pid_t process_ = -1;
  int input_ = -1;
  int output_ = -1;
  std::string out_;
  scratch_folder folder_;  // of its standard error
};

[[nodiscard]] run_result run(const std::vector<std::string>& command);

// The only child of `process`, once there is one.
[[nodiscard]] pid_t child_of(pid_t process);

// Paths of mallard-record and of what it preloads.
[[nodiscard]] std::string recorder();
[[nodiscard]] std::string preload_library();

// Path of a program of tests/recorder/targets, built without sanitizers.
[[nodiscard]] std::string target(const std::string& name);

// "mallard-record -o JOURNAL OPTIONS... -- COMMAND..."
[[nodiscard]] std::vector<std::string> record_command(const std::filesystem::path& journal,
                                                      const std::vector<std::string>& command,
                                                      const std::vector<std::string>& options = {});

// The command with `library` preloaded, which a sanitized recorder must bear in its own process.
[[nodiscard]] std::vector<std::string> with_preload(const std::string& library,
                                                    const std::vector<std::string>& command);

struct recorded {
  std::vector<journal::event> events;
  journal::process_tables tables;
  journal::metadata about;
  std::vector<journal::table> snapshots;
  bool complete = false;
};

[[nodiscard]] recorded read_journal(const std::filesystem::path& path);

// How many events there are of each kind, of those with this size; 0: of any size.
[[nodiscard]] std::map<event_kind, std::uint64_t> count_kinds(const recorded& r, std::uint64_t size = 0);

// Frees and reallocations of blocks that no earlier event allocated, and allocations of live ones.
[[nodiscard]] std::uint64_t count_contradictions(const recorded& r);

}  // namespace mallard::test
