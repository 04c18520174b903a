// own_log: what targets/logs_itself says of its own allocations, held against its journal.
//
// The log of each thread stands in a shared file, so it is as whole as the recording has to be when
// somebody is killed. A thread notes a call after it, the recorder notes a free before it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "recorder/run_process.hpp"

namespace mallard::test {

struct own_log {
  struct entry {
    std::uint64_t ns;
    std::uint64_t address;
    std::uint64_t size;  // 0: a free
    friend bool operator==(const entry& a, const entry& b) noexcept {
      return a.address == b.address && a.size == b.size;
    }
  };
  struct thread {
    std::uint64_t system_id;
    std::vector<entry> entries;
  };
  std::vector<thread> threads;
};

[[nodiscard]] own_log read_own_log(const std::filesystem::path& path);

// Now, on the log's clock.
[[nodiscard]] std::uint64_t log_clock_ns();

// What is wrong with the journal: empty if each thread's events are, in order and each once, those of the
// log from its beginning on, with all from before `since_ns`.
[[nodiscard]] std::string compare_with_own_log(const recorded& r, const own_log& log, std::uint64_t since_ns);

}  // namespace mallard::test
