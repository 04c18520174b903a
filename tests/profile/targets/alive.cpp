// Allocates, reallocates and frees at random from eight sites of two threads, which take turns, and logs
// every call: what lives, when, and where it came from. tests/python/test_alive.py works out the peak, what
// is never freed and what is a temporary, and holds mallard and heaptrack to it.
//
//     alive LOG        a line a call: + SITE THREAD SIZE | = OLD SITE THREAD SIZE | - BLOCK THREAD
//
// Blocks are numbered in the order of their allocation. The log is kept in static memory until the end, so
// that nothing else allocates while the sites do.
#include <semaphore.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {

constexpr int calls = 6000;
constexpr int sites = 8;

struct entry {
  char what;
  int block;
  int site;
  int thread;
  std::size_t size;
};

struct block {
  void* memory;
  int number;
};

std::array<entry, calls> logged;
int entries = 0;
std::array<block, calls> living;
int alive = 0;
int blocks = 0;
std::uint64_t state = 42;

unsigned random_below(unsigned end) {
  state = state * 6364136223846793005U + 1442695040888963407U;
  return static_cast<unsigned>(state >> 33) % end;
}

template <int Site>
[[gnu::noinline]] void* site(void* old, std::size_t size) {
  void* const memory = old == nullptr ? std::malloc(size) : std::realloc(old, size);
  if (memory == nullptr) std::abort();
  *static_cast<volatile char*>(memory) = Site;  // which keeps the sites apart
  return memory;
}

using allocate = void* (*)(void*, std::size_t);
constexpr std::array<allocate, sites> all_sites{site<0>, site<1>, site<2>, site<3>,
                                                site<4>, site<5>, site<6>, site<7>};

void allocate_or_grow(int thread, block* old) {
  const int from = static_cast<int>(random_below(sites));
  const std::size_t size = 1 + random_below(4000);
  logged[entries++] = {old == nullptr ? '+' : '=', old == nullptr ? 0 : old->number, from, thread, size};
  void* const memory =
      all_sites[static_cast<std::size_t>(from)](old == nullptr ? nullptr : old->memory, size);
  block& it = old == nullptr ? living[alive++] : *old;
  it = {memory, blocks++};
}

void free_one(int thread, int which) {
  logged[entries++] = {'-', living[which].number, 0, thread, 0};
  std::free(living[which].memory);
  living[which] = living[--alive];
}

// Grows in the first half and shrinks in the second: the peak is somewhere in the middle.
void work(int thread, int count) {
  for (int done = 0; done < count && entries < calls; ++done) {
    const unsigned allocations = entries < calls / 2 ? 55 : 38;
    const unsigned choice = random_below(100);
    if (alive == 0 || choice < allocations)
      allocate_or_grow(thread, nullptr);
    else if (choice < allocations + 8)
      allocate_or_grow(thread, &living[random_below(static_cast<unsigned>(alive))]);
    else if (choice < allocations + 25)
      free_one(thread, alive - 1);  // often the latest allocation: a temporary
    else
      free_one(thread, static_cast<int>(random_below(static_cast<unsigned>(alive))));
  }
}

sem_t turns[2];

void take_turns(int thread) {
  while (true) {
    sem_wait(&turns[thread]);
    const bool end = entries >= calls;
    if (!end) work(thread, 1 + static_cast<int>(random_below(20)));
    sem_post(&turns[1 - thread]);
    if (end) return;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::FILE* const log = std::fopen(argv[1], "w");
  if (log == nullptr) return 2;
  std::fputs("alive\n", log);  // has its buffer from here on
  sem_init(&turns[0], 0, 0);
  sem_init(&turns[1], 0, 0);
  std::thread other(take_turns, 1);
  sem_post(&turns[0]);
  take_turns(0);
  other.join();
  for (int i = 0; i < entries; ++i) {
    const entry& e = logged[i];
    if (e.what == '+') std::fprintf(log, "+ %d %d %zu\n", e.site, e.thread, e.size);
    if (e.what == '=') std::fprintf(log, "= %d %d %d %zu\n", e.block, e.site, e.thread, e.size);
    if (e.what == '-') std::fprintf(log, "- %d %d\n", e.block, e.thread);
  }
  return std::fclose(log) == 0 ? 0 : 2;
}
