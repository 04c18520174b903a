#include "recorder/preload/session.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recorder/preload/call.hpp"
#include "recorder/preload/environment.hpp"
#include "recorder/preload/module_list.hpp"
#include "recorder/preload/real_malloc.hpp"
#include "recorder/preload/thread_state.hpp"
#include "recorder/variables.hpp"

namespace mallard::recorder {

constinit session_gate gate{};

namespace {

std::atomic<bool> begun{false};
struct stat error_output{};  // what descriptor 2 was: it is warned to only while it still is that

spool_header* map_spool(const char* path) noexcept {
  const int descriptor = open(path, O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return nullptr;
  struct stat file{};
  void* mapped = MAP_FAILED;
  if (fstat(descriptor, &file) == 0 && static_cast<std::size_t>(file.st_size) > rings_at)
    mapped = mmap(nullptr, static_cast<std::size_t>(file.st_size), PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_NORESERVE, descriptor, 0);
  close(descriptor);
  if (mapped == MAP_FAILED) return nullptr;
  madvise(mapped, static_cast<std::size_t>(file.st_size), MADV_DONTDUMP);
  auto* spool = static_cast<spool_header*>(mapped);
  return spool->magic == spool_magic ? spool : nullptr;
}

// The shortest of a few distances between two readings.
std::uint64_t find_clock_cost() noexcept {
  std::uint64_t least = UINT64_MAX;
  std::uint64_t before = ticks();
  for (int i = 0; i < 16; ++i) {
    const std::uint64_t now = ticks();
    if (now - before < least) least = now - before;
    before = now;
  }
  return least;
}

bool close_gate_in_children() noexcept { return madvise(&gate, sizeof gate, MADV_WIPEONFORK) == 0; }

// A launched program is the first to take the spool; whoever gets hold of its path later is not.
bool take(spool_header* spool) noexcept {
  std::uint32_t nobody = 0;
  return spool->attached.compare_exchange_strong(nobody, static_cast<std::uint32_t>(getpid()));
}

// Calls malloc as the program would and sees whether the call arrives here.
bool is_bypassed() noexcept {
  call outer;
  const std::uint32_t before = self.nested_calls;
  void* (*volatile as_the_program)(std::size_t) = malloc;
  void (*volatile give_back)(void*) = free;
  void* p = as_the_program(1);
  const bool arrived = self.nested_calls != before;
  give_back(p);
  return !arrived;
}

[[gnu::constructor]] void at_start() noexcept {
  find_real_functions();
  begin_session();
  if (spool_header* spool = recording(); spool != nullptr && is_bypassed()) spool->bypassed = 1;
}

[[gnu::destructor]] void at_exit() noexcept {
  if (spool_header* spool = recording()) list_modules(spool);
}

}  // namespace

MALLARD_NOINLINE bool begin_with_first_call() noexcept {
  find_real_functions();
  return recording() != nullptr;
}

void begin_session() noexcept {
  if (environ == nullptr || begun.exchange(true)) return;
  const int saved_errno = errno;
  call outer;
  if (const char* path = take_out_of_environment(spool_variable)) {
    restore_preload_variable();
    spool_header* spool = map_spool(path);
    if (spool != nullptr && fstat(STDERR_FILENO, &error_output) != 0) error_output = {};
    if (spool != nullptr && close_gate_in_children() && take(spool)) {
      watch_thread_ends();
      list_modules(spool);
      gate.start_ticks = spool->start_ticks;
      gate.clock_cost = find_clock_cost();
      gate.stacks = spool->options.stacks;
      gate.depth = spool->options.depth;
      gate.free_stacks = spool->options.free_stacks != 0;
      gate.spool.store(spool, std::memory_order_release);
    }
  }
  errno = saved_errno;
}

void end_session() noexcept { gate.spool.store(nullptr, std::memory_order_relaxed); }

void give_up_session() noexcept {
  spool_header* spool = gate.spool.exchange(nullptr);
  if (spool == nullptr) return;
  spool->gave_up = 1;
  static constexpr char line[] =
      "mallard: recording ended, since mallard-record made no progress for 1 s; the program goes on\n";
  struct stat now{};
  if (fstat(STDERR_FILENO, &now) != 0 || now.st_dev != error_output.st_dev ||
      now.st_ino != error_output.st_ino)
    return;
  [[maybe_unused]] const auto written = write(STDERR_FILENO, line, sizeof line - 1);
}

}  // namespace mallard::recorder
