// planted_log: what a program allocates, logged by itself, without allocating for it.
//
//     make(owner, size, call), make_larger(block, size), end(block, call)
//        turn -> clock, the call, clock -> number of the event -> objects[n]        tell(): all of it, as
//        JSON
//
// Each call that allocates or frees is made while its thread has its turn and is counted then, so that the
// number of events between two calls is known whatever the threads do. The log lies in arrays; the first
// word of a block is the number of its object. Everything is inlined: the caller of malloc is the planted
// one.
#pragma once

#include <fcntl.h>
#include <immintrin.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#define PLANTED_INLINE [[gnu::always_inline]] inline

namespace planted {

inline constexpr std::uint32_t max_objects = 1 << 17;
inline constexpr std::uint32_t max_threads = 8;

enum class ending : std::uint8_t { lives_on, freed, reallocated };

struct moment {
  std::uint64_t event;   // number of the call
  std::uint64_t before;  // ns, when the call was made ...
  std::uint64_t after;   // ... and when it had returned
  std::uint32_t thread;
};

struct logged_object {
  moment allocation;
  moment free;
  std::int64_t previous;  // number of the object that it was reallocated from; -1: none
  std::uint64_t size;
  std::uint32_t owner;
  ending end;
  bool in_place;
};

inline logged_object objects[max_objects];
inline std::uint32_t object_count;
inline std::uint64_t event_count;
inline int system_ids[max_threads];
inline thread_local std::uint32_t this_thread;

// Before a thread's first event; `number` counts from 0.
inline void enter_thread(std::uint32_t number) {
  this_thread = number;
  system_ids[number] = static_cast<int>(syscall(SYS_gettid));
}

inline std::uint64_t now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(t.tv_nsec);
}

// First come, first served: threads in a contest alternate, however few processors there are. Who has a
// turn may take it again.
class turn {
 public:
  turn() {
    if (taken_++ > 0) return;
    const std::uint32_t mine = next_.fetch_add(1);
    for (int spins = 0; served_.load() != mine; ++spins)
      if (spins < 1000)
        _mm_pause();
      else
        sched_yield();
    _mm_lfence();  // a time that is read from here on is later than those of the turns before
  }
  ~turn() {
    if (--taken_ == 0) served_.fetch_add(1);
  }
  turn(const turn&) = delete;
  turn& operator=(const turn&) = delete;

 private:
  static inline std::atomic<std::uint32_t> next_ = 0;
  static inline std::atomic<std::uint32_t> served_ = 0;
  static inline thread_local int taken_ = 0;
};

template <class Call>
PLANTED_INLINE moment logged_call(Call&& call) {
  moment m{};
  m.before = now();
  call();
  m.after = now();
  m.event = event_count++;
  m.thread = this_thread;
  return m;
}

PLANTED_INLINE std::uint32_t& number_of(void* block) { return *static_cast<std::uint32_t*>(block); }

PLANTED_INLINE void add_object(void* block, const logged_object& o) {
  if (block == nullptr || object_count == max_objects) std::abort();
  objects[object_count] = o;
  number_of(block) = object_count++;
}

template <class Allocate>
PLANTED_INLINE void* make(std::uint32_t owner, std::size_t size, Allocate&& allocate) {
  const turn mine;
  void* block = nullptr;
  const moment allocation = logged_call([&] { block = allocate(size); });
  add_object(block, {allocation, {}, -1, size, owner, ending::lives_on, false});
  return block;
}

template <class Free>
PLANTED_INLINE void end(void* block, Free&& free) {
  const turn mine;
  logged_object& o = objects[number_of(block)];
  o.free = logged_call([&] { free(block); });
  o.end = ending::freed;
}

PLANTED_INLINE void* make_larger(void* block, std::size_t size) {
  const turn mine;
  const std::uint32_t number = number_of(block);
  const auto address = reinterpret_cast<std::uintptr_t>(block);
  void* grown = nullptr;
  const moment both = logged_call([&] { grown = std::realloc(block, size); });
  logged_object& old = objects[number];
  old.free = both;
  old.end = ending::reallocated;
  const bool in_place = reinterpret_cast<std::uintptr_t>(grown) == address;
  add_object(grown, {both, {}, number, size, old.owner, ending::lives_on, in_place});
  return grown;
}

// A file written through a buffer of its own.
class text_file {
 public:
  explicit text_file(const char* path) : file_(open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {
    if (file_ < 0) std::abort();
  }
  ~text_file() {
    flush();
    close(file_);
  }
  text_file(const text_file&) = delete;
  text_file& operator=(const text_file&) = delete;

  [[gnu::format(printf, 2, 3)]] void print(const char* format, ...) {
    if (used_ > sizeof buffer_ - longest) flush();
    va_list values;
    va_start(values, format);
    used_ += static_cast<std::size_t>(std::vsnprintf(buffer_ + used_, longest, format, values));
    va_end(values);
  }

 private:
  static constexpr std::size_t longest = 1000;

  void flush() {
    if (write(file_, buffer_, used_) != static_cast<ssize_t>(used_)) std::abort();
    used_ = 0;
  }

  int file_;
  std::size_t used_ = 0;
  static inline char buffer_[1 << 16];
};

inline void print_moment(text_file& out, const moment& m) {
  using number = unsigned long long;
  out.print(",%llu,%llu,%llu,%u", number{m.event}, number{m.before}, number{m.after}, m.thread);
}

// One object a line: owner, size, ending, previous, in place; then of its allocation and of its free: event,
// before, after, thread. Owners are indices into `subsystems`, which are pairs: a name, and a function that
// is in the subsystem's stacks and in those of no other one.
template <std::size_t Subsystems>
void tell(const char* path, const char* const (&subsystems)[Subsystems][2], std::uint32_t threads) {
  text_file out(path);
  out.print("{\"subsystems\": [");
  for (std::size_t i = 0; i < Subsystems; ++i)
    out.print("%s[\"%s\", \"%s\"]", i == 0 ? "" : ", ", subsystems[i][0], subsystems[i][1]);
  out.print("],\n\"threads\": [");
  for (std::uint32_t i = 0; i < threads; ++i) out.print("%s%d", i == 0 ? "" : ", ", system_ids[i]);
  out.print("],\n\"objects\": [");
  for (std::uint32_t i = 0; i < object_count; ++i) {
    const logged_object& o = objects[i];
    out.print("%s\n[%u,%zu,%d,%lld,%d", i == 0 ? "" : ",", o.owner, o.size, static_cast<int>(o.end),
              static_cast<long long>(o.previous), o.in_place ? 1 : 0);
    print_moment(out, o.allocation);
    print_moment(out, o.free);
    out.print("]");
  }
  out.print("\n]}\n");
}

}  // namespace planted
