// Eight threads that allocate and free in every way, and end and begin, while the process forks, opens and
// closes a library and interrupts them by signals. Every byte of every block is looked at before it is freed.
//
//     thread --allocate, fill--> [ places shared by all ] --look, free, reallocate--> any other thread
//                                          |
//     turns of main: fork --> a child that looks at and frees all of them, and has threads of its own
//                    dlopen, dlclose      SIGUSR2 to the running thread
//
//     malloc_stress (--turns N | --seconds N) [--damage]       for any malloc; LD_PRELOAD says which
//
// Exit code 0 and one line of counts, or 1 and what was wrong. --damage changes a byte, which must be found.
// It is linked with no malloc, so it says nothing of its own: tests/malloc/ and ./dev soak run it.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <new>
#include <random>
#include <string_view>
#include <thread>
#include <vector>

namespace {

// In front of what a block holds: its size and what follows from that.
struct block {
  std::size_t size;    // bytes from here on
  std::uint32_t mark;  // of all bytes behind
  enum class from : std::uint32_t { malloc, new_, wide_new } way;
};

std::atomic<std::uint64_t> operations = 0;
std::atomic<std::uint64_t> threads_begun = 0;
std::atomic<std::uint64_t> signals_seen = 0;
std::atomic<bool> is_over = false;
std::array<std::atomic<block*>, 4096> places{};
std::mutex of_a_library;  // which holds it while the process forks

[[noreturn]] void fail(const char* what, const block* b) {
  std::fprintf(stderr, "malloc_stress: %s: the block at %p\n", what, static_cast<const void*>(b));
  std::_Exit(1);
}

unsigned char byte_of(const block& b, std::size_t at) {
  return static_cast<unsigned char>(b.mark + at * 7 + (at >> 8));
}

void fill(block* b, std::size_t from) {
  auto* const bytes = reinterpret_cast<unsigned char*>(b);
  for (std::size_t i = std::max(from, sizeof(block)); i < b->size; ++i) bytes[i] = byte_of(*b, i);
}

void look_at(const block* b, std::size_t size) {
  const auto* const bytes = reinterpret_cast<const unsigned char*>(b);
  for (std::size_t i = sizeof(block); i < size; ++i)
    if (bytes[i] != byte_of(*b, i)) fail("damaged", b);
}

class worker {
 public:
  explicit worker(std::uint64_t seed) : random_(seed) {}

  // One block more or less in the shared places, and one of its own.
  void step() {
    if (random_() % 32 == 0) {
      const std::lock_guard guard(of_a_library);
      end(make());
    }
    operations.fetch_add(1, std::memory_order_relaxed);
    std::atomic<block*>& place = places[random_() % places.size()];
    if (block* const old = place.exchange(random_() % 8 == 0 ? nullptr : make(), std::memory_order_acq_rel))
      end(old);
    if (kept_.size() < 300) return kept_.push_back(make());
    block*& chosen = kept_[random_() % kept_.size()];
    if (random_() % 3 == 0 && chosen->way == block::from::malloc) {
      chosen = resize(chosen);
    } else {
      end(chosen);
      chosen = make();
    }
  }

  void end_all() {
    for (block* const b : kept_) end(b);
    kept_.clear();
  }

  // Also where a whole block is looked at for the last time.
  static void end(block* b) {
    look_at(b, b->size);
    const auto way = b->way;
    std::memset(b, 0x5a, std::min<std::size_t>(b->size, 64));
    if (way == block::from::new_)
      ::operator delete(b);
    else if (way == block::from::wide_new)
      ::operator delete(b, std::align_val_t{64});
    else
      std::free(b);
  }

 private:
  std::size_t any_size() {
    const std::uint64_t r = random_();
    const std::uint64_t s = r >> 32;
    if (r % 1024 == 0) return sizeof(block) + s % 2'000'000;
    if (r % 64 == 0) return sizeof(block) + s % 60'000;
    return sizeof(block) + (r % 4 == 0 ? s % 3000 : s % 200);
  }

  block* make() {
    const std::size_t size = any_size();
    const std::uint64_t way = random_() % 16;
    auto from = block::from::malloc;
    void* p = nullptr;
    if (way == 0) {
      const std::size_t align = std::size_t{32} << random_() % 9;
      if (::posix_memalign(&p, align, size) != 0) p = nullptr;
      if (reinterpret_cast<std::uintptr_t>(p) % align != 0) fail("aligned wrongly", static_cast<block*>(p));
    } else if (way < 3) {
      p = std::calloc(1, size);
      const auto* const c = static_cast<const char*>(p);
      if (p != nullptr && std::any_of(c, c + size, [](char x) { return x != 0; }))
        fail("not zero", static_cast<block*>(p));
    } else if (way < 6) {
      p = ::operator new(size, std::nothrow);
      from = block::from::new_;
    } else if (way == 6) {
      p = ::operator new(size, std::align_val_t{64}, std::nothrow);
      from = block::from::wide_new;
    } else {
      p = std::malloc(size);
    }
    if (p == nullptr) fail("no memory", nullptr);
    auto* const b = ::new (p) block{size, static_cast<std::uint32_t>(random_()), from};
    fill(b, 0);
    return b;
  }

  block* resize(block* b) {
    const std::size_t before = b->size;
    const std::size_t size = any_size();
    auto* const moved = static_cast<block*>(std::realloc(b, size));
    if (moved == nullptr) fail("no memory", b);
    look_at(moved, std::min(before, size));
    moved->size = size;
    fill(moved, std::min(before, size));
    return moved;
  }

  std::mt19937_64 random_;
  std::vector<block*> kept_;
};

// A thread lives for some thousand steps; then the next one takes its place.
void keep_working(std::uint64_t seed) {
  for (std::uint64_t life = 0; !is_over.load(std::memory_order_relaxed); ++life)
    std::thread([seed, life] {
      threads_begun.fetch_add(1, std::memory_order_relaxed);
      worker w(seed * 1'000'003 + life);
      for (int i = 0; i != 3000 && !is_over.load(std::memory_order_relaxed); ++i) w.step();
      w.end_all();
    }).join();
}

// What a child finds of its parent it may free; it ends by a signal if it waits for a lock that nobody has.
bool child_works() {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(120);
    for (auto& place : places)
      if (block* const b = place.exchange(nullptr, std::memory_order_acquire)) worker::end(b);
    for (int t = 0; t != 2; ++t)
      std::thread([t] {
        worker w(static_cast<std::uint64_t>(t));
        for (int i = 0; i != 500; ++i) w.step();
        w.end_all();
      }).join();
    std::_Exit(0);
  }
  int status = 0;
  return child > 0 && ::waitpid(child, &status, 0) == child && status == 0;
}

// It lies beside this program, as the loader finds where it sees the caller.
bool library_works(int mode) {
  const char* const beside = "$ORIGIN/" MALLARD_DEEP_LIBRARY_NAME;
  void* const library = ::dlopen((mode & RTLD_DEEPBIND) != 0 ? MALLARD_DEEP_LIBRARY : beside, mode);
  if (library == nullptr) return false;
  auto* const copy = reinterpret_cast<char* (*)(const char*)>(::dlsym(library, "copy"));
  auto* const end = reinterpret_cast<void (*)(void*)>(::dlsym(library, "end"));
  char* const text = copy("text");
  const bool is_same = std::strcmp(text, "text") == 0;
  std::free(text);
  end(std::malloc(100));
  return ::dlclose(library) == 0 && is_same;
}

// Before any library's constructors: a handler installed later must pass the signal on, and a fork may wait
// for a thread that allocates.
void install_handlers(int, char**, char**) {
  ::pthread_atfork([] { of_a_library.lock(); }, [] { of_a_library.unlock(); }, [] { of_a_library.unlock(); });
  std::signal(SIGUSR2, [](int) { signals_seen.fetch_add(1, std::memory_order_relaxed); });
}
[[gnu::section(".preinit_array"), gnu::used]] void (*const first)(int, char**, char**) = install_handlers;

std::size_t resident_mib() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages >> pages;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) >> 20;
}

void tell(std::uint64_t turns) {
  std::printf("%llu operations, %llu threads, %llu forks and libraries, %llu signals, %zu MiB resident\n",
              static_cast<unsigned long long>(operations), static_cast<unsigned long long>(threads_begun),
              static_cast<unsigned long long>(turns), static_cast<unsigned long long>(signals_seen),
              resident_mib());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const bool counts_turns = argc > 2 && std::string_view(argv[1]) == "--turns";
  if (argc < 3 || (!counts_turns && std::string_view(argv[1]) != "--seconds")) {
    std::fputs("usage: malloc_stress (--turns N | --seconds N) [--damage]\n", stderr);
    return 2;
  }
  const std::uint64_t wanted = std::strtoull(argv[2], nullptr, 10);
  const bool is_damaged = argc > 3 && std::string_view(argv[3]) == "--damage";
  using clock = std::chrono::steady_clock;
  const auto begin = clock::now();
  const auto done = [&](std::uint64_t turns) {
    return counts_turns ? turns
                        : static_cast<std::uint64_t>((clock::now() - begin) / std::chrono::seconds(1));
  };

  std::vector<std::thread> workers;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) workers.emplace_back(keep_working, seed);
  std::uint64_t turns = 0;
  std::uint64_t told = 1;
  while (done(turns) < wanted) {
    const std::uint64_t before = operations;
    if (!child_works()) fail("a child has failed", nullptr);
    if (!library_works((turns % 2 == 0 ? RTLD_NOW : RTLD_LAZY) | (turns % 3 == 0 ? 0 : RTLD_DEEPBIND)))
      fail("a library has failed", nullptr);
    for (std::thread& w : workers) ::pthread_kill(w.native_handle(), SIGUSR2);
    ::kill(::getpid(), SIGUSR2);
    if (is_damaged)
      if (block* const b = places[turns % places.size()].exchange(nullptr, std::memory_order_acquire)) {
        reinterpret_cast<unsigned char*>(b)[b->size - 1] ^= b->size > sizeof(block) ? 1u : 0u;
        worker::end(b);
      }
    while (operations < before + 10'000) ::usleep(100);
    ++turns;
    if (!counts_turns && done(turns) * 10 >= wanted * told) {
      tell(turns);
      told = done(turns) * 10 / wanted + 1;
    }
  }
  is_over = true;
  for (std::thread& w : workers) w.join();
  for (auto& place : places)
    if (block* const b = place.exchange(nullptr)) worker::end(b);
  if (counts_turns) tell(turns);
  return 0;
}
