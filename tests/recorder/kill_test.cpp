// kill -9 of the program, of the launcher or of both, at random moments: nothing that happened before is
// lost or doubled. MALLARD_KILLS is how many of each; ./dev soak asks for 50. That is shown by the
// program's own log, and a comparison with it finds what is lost, doubled or not the same, whenever it
// happened.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

#include "journal/spool/spool.hpp"
#include "profile/summary.hpp"
#include "recorder/run_process.hpp"

namespace mallard::test {
namespace {

// own_log: what targets/logs_itself says of its own allocations, held against its journal.
//
// The log of each thread stands in a shared file, so it is as whole as the recording has to be when
// somebody is killed. A thread notes a call after it, the recorder notes a free before it.
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

// Now, on the log's clock.
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

// What is wrong with the journal: empty if each thread's events are, in order and each once, those of the
// log from its beginning on, with all from before `since_ns`.
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

constexpr std::uint64_t grace_ns = 100'000'000;

int kills() {
  const char* wanted = std::getenv("MALLARD_KILLS");
  return wanted == nullptr ? 3 : std::atoi(wanted);
}

// Whether a lock of the program's or of the launcher's is on the spool. The kernel may take them off later
// than it reports the end of a process: its mapping holds the file, and a process that reads /proc/PID just
// then, as ps and monitors do, holds the mapping.
bool is_locked(const std::string& spool) {
  const int descriptor = open(spool.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool locked = journal::is_locked_by_process(descriptor) || flock(descriptor, LOCK_SH | LOCK_NB) != 0;
  close(descriptor);
  return locked;
}

class killing : public testing::Test {
 protected:
  // Records logs_itself and calls `strike(launcher, program)` at a random moment; the rings' size and the
  // number of threads are random as well. Returns what became of the launcher. A program that goes on ends
  // when its log is full, long before its time.
  template <class Strike>
  run_result record(int milliseconds, Strike strike) {
    const std::string buffer = std::to_string(4096u << random_() % 9);
    const std::string threads = std::to_string(1 + random_() % 3);
    running recorder(record_command(
        journal_, {target("logs_itself"), log_.string(), threads, std::to_string(milliseconds)},
        {"--buffer", buffer}));
    recorder.wait_for_output("ready");
    const pid_t program = child_of(recorder.process());
    std::this_thread::sleep_for(std::chrono::microseconds(random_() % 250'000));
    struck_ns_ = log_clock_ns();
    strike(recorder.process(), program);
    run_result result = recorder.finish();
    while (is_locked(journal_.string() + journal::spool_suffix))
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return result;
  }

  void expect_recovered() {
    EXPECT_EQ(compare_with_own_log(read_journal(journal_), read_own_log(log_), struck_ns_ - grace_ns), "");
    const profile::summary s = profile::summarize(journal_);
    EXPECT_GT(s.events, 0u);
    if (s.complete) return;  // the launcher had seen the program's end before its own
    ASSERT_EQ(s.warnings.size(), 1u);
    // Or it had, and was about to write that.
    EXPECT_TRUE(s.warnings[0].starts_with("the recording was cut off: ") ||
                s.warnings[0].starts_with("the program outlived mallard-record: "))
        << s.warnings[0];
  }

  scratch_folder folder_;
  std::filesystem::path journal_ = folder_ / "journal";
  std::filesystem::path log_ = folder_ / "log";
  std::mt19937 random_{std::random_device{}()};
  std::uint64_t struck_ns_ = 0;
};

TEST_F(killing, the_program_leaves_a_whole_journal) {
  for (int i = 0; i < kills(); ++i) {
    const run_result result = record(10'000, [](pid_t, pid_t program) { kill(program, SIGKILL); });
    EXPECT_EQ(result.status, 128 + SIGKILL);
    const recorded r = read_journal(journal_);
    EXPECT_TRUE(r.complete);
    EXPECT_EQ(compare_with_own_log(r, read_own_log(log_), UINT64_MAX), "");
    EXPECT_FALSE(std::filesystem::exists(journal_.string() + ".spool"));
  }
}

TEST_F(killing, the_launcher_lets_the_program_go_on) {
  for (int i = 0; i < kills(); ++i) {
    const run_result result = record(10'000, [](pid_t launcher, pid_t) { kill(launcher, SIGKILL); });
    EXPECT_TRUE(result.out.ends_with("done\n")) << result.out;
    EXPECT_EQ(result.err, "mallard: recording ended, since mallard-record has died; the program goes on\n");
    expect_recovered();
    EXPECT_FALSE(profile::summarize(journal_).complete);
  }
}

TEST_F(killing, both_leave_a_journal_and_its_spool) {
  for (int i = 0; i < kills(); ++i) {
    record(10'000, [this](pid_t launcher, pid_t program) {
      const bool program_first = random_() % 2 == 0;
      kill(program_first ? program : launcher, SIGKILL);
      kill(program_first ? launcher : program, SIGKILL);
    });
    expect_recovered();
  }
}

TEST_F(killing, a_recording_that_goes_on_can_be_read) {
  record(10'000, [this](pid_t, pid_t) {
    const profile::summary s = profile::summarize(journal_);
    EXPECT_FALSE(s.complete);
    ASSERT_EQ(s.warnings.size(), 1u);
    EXPECT_TRUE(s.warnings[0].starts_with("the recording is going on: ")) << s.warnings[0];
    const recorded r = read_journal(journal_);  // before the log, which is longer by then
    EXPECT_EQ(compare_with_own_log(r, read_own_log(log_), struck_ns_ - grace_ns), "");
  });
  EXPECT_TRUE(read_journal(journal_).complete);
}

constexpr std::uint64_t every_ns = 1000;
constexpr std::uint64_t the_end = UINT64_MAX;

class own_log_of_a_thread : public testing::Test {
 protected:
  own_log_of_a_thread() {
    journal_.tables.threads = {{.system_id = 5}};
    log_.threads = {{.system_id = 5, .entries = {}}};
    for (std::uint64_t i = 1; i <= 10; ++i) {
      journal_.events.push_back({.kind = event_kind::malloc, .time = i, .address = 16 * i, .size = 7000 + i});
      log_.threads[0].entries.push_back({every_ns * i, 16 * i, 7000 + i});
    }
  }

  // What the comparison says, all from before `since_ns` being demanded.
  [[nodiscard]] std::string said(std::uint64_t since_ns = the_end) const {
    return compare_with_own_log(journal_, log_, since_ns);
  }

  recorded journal_;
  own_log log_;
};

TEST_F(own_log_of_a_thread, agrees_with_a_whole_journal) { EXPECT_EQ(said(), ""); }

TEST_F(own_log_of_a_thread, lets_nothing_be_lost_but_at_the_very_end) {
  journal_.events.pop_back();
  EXPECT_NE(said(), "");
  EXPECT_EQ(said(10 * every_ns), "");
  journal_.events.pop_back();
  EXPECT_NE(said(10 * every_ns), "");
  journal_.events.erase(journal_.events.begin() + 3);
  EXPECT_NE(said(every_ns), "");
}

TEST_F(own_log_of_a_thread, lets_nothing_be_doubled) {
  journal_.events.insert(journal_.events.begin() + 3, journal_.events[3]);
  EXPECT_NE(said(), "");
}

TEST_F(own_log_of_a_thread, lets_one_event_at_most_be_ahead_of_the_log) {
  log_.threads[0].entries.pop_back();
  EXPECT_EQ(said(), "");
  log_.threads[0].entries.pop_back();
  EXPECT_NE(said(), "");
}

TEST_F(own_log_of_a_thread, lets_nothing_be_another_or_out_of_order) {
  std::swap(journal_.events[3].address, journal_.events[4].address);
  EXPECT_NE(said(), "");
  std::swap(journal_.events[3], journal_.events[4]);
  EXPECT_NE(said(), "");
}

}  // namespace
}  // namespace mallard::test
