// counted_runs: how many calls of each kind each process of a run made, by the counter library and by the
// recorder, and what the program showed to its user meanwhile.
//
//     natively              program -> libc
//     counted               program -> counter -> libc
//     recorded              program -> recorder -> libc
//     recorded_and_counted  program -> recorder -> counter -> libc
//
// Counted and recorded runs can be compared where a program makes the same calls in every run; where it
// does not (it hashes addresses, say), both look at the same one. All runs have equally long environments,
// since programs allocate for what they find there.
#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "recorder/run_process.hpp"

namespace mallard::test {

using kind_counts = std::map<event_kind, std::uint64_t>;

// One process, between its start or exec and its end or next exec.
struct counted_program {
  std::string name;  // of its file, without folders and links
  kind_counts of_kind;

  friend auto operator<=>(const counted_program&, const counted_program&) = default;
};

// Prints it in a failed comparison.
void PrintTo(const counted_program& program, std::ostream* out);

struct call_counts {
  run_result shown;                          // without the recorder's own lines
  std::vector<counted_program> by_counter;   // programs that made any call, sorted; of a run that counts
  std::vector<counted_program> by_recorder;  // the same; of a run that records
};

class counted_runs {
 public:
  // `variables` ("NAME=value") are added to the environment of all runs.
  explicit counted_runs(std::vector<std::string> command, std::vector<std::string> variables = {});

  [[nodiscard]] run_result natively() const;
  [[nodiscard]] call_counts counted() const;
  [[nodiscard]] call_counts recorded(const std::vector<std::string>& options = {}) const;
  [[nodiscard]] call_counts recorded_and_counted(const std::vector<std::string>& options = {}) const;

 private:
  [[nodiscard]] call_counts take(const std::string& library, const std::filesystem::path& counts,
                                 const std::vector<std::string>& command, std::uint64_t probes) const;
  [[nodiscard]] call_counts take_recorded(const std::string& library,
                                          const std::vector<std::string>& options) const;

  std::vector<std::string> command_;
  std::vector<std::string> variables_;
};

}  // namespace mallard::test
