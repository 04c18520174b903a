#include "recorder/preload/spool/reader_watch.hpp"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "journal/spool/ring_record.hpp"
#include "recorder/clock.hpp"
#include "recorder/preload/spool/lineage.hpp"
#include "recorder/preload/spool/raw_calls.hpp"
#include "recorder/preload/state/recorder_state.hpp"

namespace mallard::recorder {

thread_local constinit std::uint64_t paused_steps = 0;

namespace {

struct stat error_output{};  // what descriptor 2 was: it is warned to only while it still is that

constexpr std::uint64_t room_for_one = max_record_words + max_event_words;  // an event and its snapshot
constexpr long short_pause = 50'000;                                        // ns
constexpr long long_pause = 1'000'000;                                      // ns
constexpr int short_pauses = 20;
constexpr long reader_timeout = 30'000'000'000;  // ns of pauses without any progress

constexpr char reader_died[] =
    "mallard: recording ended, since mallard-record has died; the program goes on\n";
constexpr char reader_hung[] =
    "mallard: recording ended, since mallard-record made no progress for 30 s; the program goes on\n";

// Writing to a pipe that nobody reads must not end the program.
void write_without_signal(int descriptor, const char* text, std::size_t size) noexcept {
  const blocked_signals signals;
  sigset_t broken_pipe;
  sigset_t pending;
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  sigemptyset(&pending);
  const bool known = raw_call(SYS_rt_sigpending, &pending, kernels_signal_bytes) == 0;
  const bool was_pending = !known || sigismember(&pending, SIGPIPE) != 0;
  const timespec at_once{};
  if (raw_call(SYS_write, descriptor, text, size) == -EPIPE && !was_pending)
    static_cast<void>(raw_call(SYS_rt_sigtimedwait, &broken_pipe, nullptr, &at_once, kernels_signal_bytes));
}

std::uint64_t free_words(const ring_writer& ring) noexcept {
  const std::uint64_t used = ring.head - ring.shared->tail.load(std::memory_order_acquire);
  return ring.mask + 1 - used;
}

// About how many steps of the clock `ns` are: its rate is the launcher's estimate.
std::uint64_t steps_in(long ns) noexcept {
  constexpr double usual = 3e9 / steps_per_tick;
  const double known = lineage.root->ticks_per_second.load(std::memory_order_relaxed);
  return static_cast<std::uint64_t>(static_cast<double>(ns) * 1e-9 * (known > 0 ? known : usual) *
                                    steps_per_tick);
}

// For threads that are not allowed to sleep.
void spin_until(std::uint64_t end) noexcept {
  while (clock_steps() < end) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
}

// The launcher may end before it has met a child, whose own spool then does not say so.
bool has_no_reader(const spool_header* spool) noexcept {
  return spool->stopped.load(std::memory_order_relaxed) != 0 ||
         spool->left_alone.load(std::memory_order_relaxed) != 0 ||
         lineage.root->left_alone.load(std::memory_order_relaxed) != 0;
}

bool reader_has_died() noexcept {
  return (lineage.root->reader.load(std::memory_order_relaxed) & FUTEX_OWNER_DIED) != 0;
}

// Pauses until `done`, as long as the reader lives and makes progress. Time counts only while it is spent in
// whole pauses, so that a process that was stopped, or a suspended machine, does not look like a launcher
// that hangs.
template <class Condition>
bool wait_for_reader(spool_header* spool, Condition done) noexcept {
  const spool_header* root = lineage.root;
  std::uint32_t beat = root->heartbeat.load(std::memory_order_relaxed);
  long idle = 0;
  for (int round = 0; !done(); ++round) {
    if (has_no_reader(spool)) {
      stop_recording();
      return false;
    }
    wake_reader();
    const long pause = round < short_pauses ? short_pause : long_pause;
    if (pause_for_ns(pause)) idle += pause;
    const std::uint32_t now = root->heartbeat.load(std::memory_order_relaxed);
    if (now != beat) idle = 0;
    beat = now;
    if (reader_has_died() || idle >= reader_timeout) {
      give_up_recording();
      return false;
    }
    if (state.decided && current_spool() == nullptr) return false;  // another thread has ended it
  }
  return true;
}

bool wait_for_room(spool_header* spool, const ring_writer& ring) noexcept {
  const std::uint64_t since = ticks();
  if (!wait_for_reader(spool, [&] { return free_words(ring) >= room_for_one; })) return false;
  ring.shared->stalls.fetch_add(1, std::memory_order_relaxed);
  ring.shared->stalled_ticks.fetch_add(ticks() - since, std::memory_order_relaxed);
  return true;
}

}  // namespace

void remember_error_output() noexcept {
  if (fstat(STDERR_FILENO, &error_output) != 0) error_output = {};
}

void give_up_recording() noexcept {
  spool_header* spool = state.spool.exchange(nullptr);
  if (spool == nullptr) return;
  const bool said_before = lineage.root->gave_up.exchange(1) != 0;  // by another process
  spool->gave_up = 1;
  if (said_before) return;
  struct stat now{};
  if (raw_call(SYS_fstat, STDERR_FILENO, &now) != 0 || now.st_dev != error_output.st_dev ||
      now.st_ino != error_output.st_ino)
    return;
  if (reader_has_died())
    write_without_signal(STDERR_FILENO, reader_died, sizeof reader_died - 1);
  else
    write_without_signal(STDERR_FILENO, reader_hung, sizeof reader_hung - 1);
}

bool pause_for_ns(long ns) noexcept {
  const timespec moment{.tv_sec = 0, .tv_nsec = ns};
  const std::uint64_t since = clock_steps();
  const long result = raw_call(SYS_nanosleep, &moment, nullptr);
  if (result != 0 && result != -EINTR) spin_until(since + steps_in(ns));
  paused_steps += clock_steps() - since;
  return result != -EINTR;
}

void wake_reader() noexcept {
  spool_header* root = lineage.root;
  if (root->asleep.load() == 0) return;
  root->doorbell.fetch_add(1);
  const long woken = raw_call(SYS_futex, &root->doorbell, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  if (woken == not_permitted) root->cannot_ring.store(1, std::memory_order_relaxed);
}

bool take_room(ring_writer& ring) noexcept {
  const std::uint64_t quarter = (ring.mask + 1) / 4;
  const std::uint64_t room = free_words(ring);
  if (room < room_for_one) return false;
  if (room < 3 * quarter) wake_reader();
  ring.limit = ring.head + (room < quarter ? room : quarter);
  return true;
}

bool make_room(spool_header* spool, ring_writer& ring) noexcept {
  if (spool->stopped.load(std::memory_order_relaxed) != 0) {
    stop_recording();
    return false;
  }
  return take_room(ring) || (wait_for_room(spool, ring) && take_room(ring));
}

bool wait_for_contexts(spool_header* spool, std::uint32_t count) noexcept {
  const auto ready = [=] { return spool->contexts_ready.load(std::memory_order_acquire) >= count; };
  if (2 * count > spool->contexts_ready.load(std::memory_order_relaxed)) wake_reader();
  wait_for_reader(spool, [&] { return ready() || spool->contexts_full.load() != 0; });
  return current_spool() != nullptr && ready();
}

bool wait_for_module_room(spool_header* spool, std::uint64_t position) noexcept {
  return wait_for_reader(spool, [=] {
    return position - spool->modules_tail.load(std::memory_order_acquire) <= module_ring_bytes;
  });
}

}  // namespace mallard::recorder
