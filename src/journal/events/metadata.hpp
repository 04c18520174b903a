// metadata: what a journal says about the process it was recorded from.
//
// The writer may describe the process several times: a later description adds to the earlier ones
// and overrides what it repeats, so figures known only at the end of the run come last. A journal
// in the text form knows nothing but its clock. Everything here is small; it is copied freely.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mallard::journal {

// A fact that a journal has if it lacks something of the run, though it is whole as a file: what, and why.
inline constexpr char incomplete_fact[] = "incomplete";

// A fact that a journal has if a part of the program allocates where the recorder cannot see it: which part.
inline constexpr char unseen_fact[] = "unseen";

struct metadata {
  std::string program{};                 // path of the executable; empty: unknown
  std::vector<std::string> arguments{};  // argv, the program's name included
  std::string directory{};               // working directory at the start; empty: unknown
  std::uint64_t process = 0;             // process id; 0: unknown
  std::uint64_t parent_process = 0;      // 0: unknown
  std::uint64_t start_unix_ns = 0;       // when recording began, since the epoch; 0: unknown
  double ticks_per_second = 1e9;         // of the clock behind every time in the journal; finite, > 0

  // Facts of the machine and of the recording, by name: "kernel", "cpu", "stack", "recorder" ...
  std::map<std::string, std::string> facts{};

  // Totals by name, usually written at the end: "cpu_ns", "recording_ns", "stalls", "exit_code" ...
  std::map<std::string, std::int64_t> figures{};

  friend bool operator==(const metadata&, const metadata&) = default;
};

// From ticks of the journal's clock to nanoseconds, rounded to the nearest. A damaged journal can have any
// time and any rate: what does not fit becomes the largest number.
class tick_scale {
 public:
  explicit tick_scale(double ns_per_tick) noexcept : ns_per_tick_(ns_per_tick) {}

  [[nodiscard]] std::uint64_t ns(std::uint64_t ticks) const noexcept {
    if (ns_per_tick_ == 1) return ticks;  // exact, also beyond 2^53
    const double found = static_cast<double>(ticks) * ns_per_tick_ + 0.5;
    constexpr double too_many = 18446744073709551616.0;
    return found < too_many ? static_cast<std::uint64_t>(found) : UINT64_MAX;
  }

 private:
  double ns_per_tick_;
};

// One JSON object, the contents of a "meta" section, without what is unknown. Bytes that are not UTF-8 become
// U+FFFD.
[[nodiscard]] std::string metadata_to_json(const metadata& about);

// Adds what `text` says to `about`, overriding what both say; members it does not know are skipped.
// Throws malformed.
void merge_metadata(metadata& about, std::string_view text);

}  // namespace mallard::journal
