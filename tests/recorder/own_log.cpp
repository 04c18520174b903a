#include "recorder/own_log.hpp"

#include <time.h>

#include <algorithm>
#include <fstream>
#include <unordered_set>

namespace mallard::test {
namespace {

constexpr std::size_t entries_of_a_thread = std::size_t{1} << 19;
constexpr std::streamoff bytes_of_a_thread = 16 + entries_of_a_thread * sizeof(own_log::entry);

// The thread's calls as the journal has them: blocks of sizes that nobody else asks for, and their ends.
std::vector<own_log::entry> events_of(const recorded& r, std::uint64_t system_id) {
  std::vector<own_log::entry> found;
  std::unordered_set<std::uint64_t> live;
  for (const journal::event& e : r.events) {
    if (r.tables.threads[e.thread].system_id != system_id) continue;
    const bool begins = e.kind == event_kind::malloc && e.size >= 7000 && e.size < 8000;
    if (begins) live.insert(e.address);
    if (begins || (e.kind == event_kind::free && live.erase(e.address) == 1))
      found.push_back({e.time, e.address, begins ? e.size : 0});
  }
  return found;
}

}  // namespace

std::uint64_t log_clock_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

own_log read_own_log(const std::filesystem::path& path) {
  own_log log;
  std::ifstream file(path, std::ios::binary);
  for (std::streamoff at = 0;; at += bytes_of_a_thread) {
    std::uint64_t head[2];
    if (!file.seekg(at) || !file.read(reinterpret_cast<char*>(head), sizeof head)) break;
    if (head[0] == 0) continue;  // it has not begun
    own_log::thread& thread = log.threads.emplace_back();
    thread.system_id = head[0];
    thread.entries.resize(std::min(head[1], entries_of_a_thread));
    file.read(reinterpret_cast<char*>(thread.entries.data()),
              static_cast<std::streamsize>(thread.entries.size() * sizeof(own_log::entry)));
  }
  return log;
}

std::string compare_with_own_log(const recorded& r, const own_log& log, std::uint64_t since_ns) {
  for (std::size_t i = 1; i < r.events.size(); ++i)
    if (r.events[i].time < r.events[i - 1].time) return "time falls at event " + std::to_string(i);
  for (const own_log::thread& thread : log.threads) {
    const std::string who = "thread " + std::to_string(thread.system_id) + ": ";
    const std::vector<own_log::entry> seen = events_of(r, thread.system_id);
    const std::size_t both = std::min(seen.size(), thread.entries.size());
    const auto differ =
        std::mismatch(seen.begin(), seen.begin() + static_cast<std::ptrdiff_t>(both), thread.entries.begin());
    if (differ.first != seen.begin() + static_cast<std::ptrdiff_t>(both))
      return who + "event " + std::to_string(differ.first - seen.begin()) + " of " +
             std::to_string(seen.size()) + " is not the logged one of " +
             std::to_string(thread.entries.size());
    if (seen.size() > thread.entries.size() + 1)  // one may be recorded and not yet logged
      return who + std::to_string(seen.size()) + " events, " + std::to_string(thread.entries.size()) +
             " logged";
    if (seen.size() < thread.entries.size() && thread.entries[seen.size()].ns < since_ns)
      return who + "lost from event " + std::to_string(seen.size()) + " on, " +
             std::to_string((since_ns - thread.entries[seen.size()].ns) / 1000) + " us too early";
  }
  return {};
}

}  // namespace mallard::test
