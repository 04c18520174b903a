// What a process over multipool pays for assertions, and what it gives back to the system.
//
//     process structures           prints ns a leaf for each of twelve data structures: built, written, ended
//     process returned GIB         prints MiB resident before, after and later than a heap of GIB GiB
//
// bench/process/process.py compiles it twice, with NDEBUG and without.

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>

#include "common/typed_bindings.hpp"
#include "harness/cpu_clock.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/source/chunk_cache.hpp"
#include "p0089/density/structures.hpp"

namespace mallard::bench {
namespace {

using binding = typed_binding<multipool>;

// Elements of a structure, so that each has 2^14 leaves.
template <int N>
constexpr std::size_t elements() {
  constexpr std::size_t leaves = 1 << 14;
  return N <= 4 ? leaves : leaves / inner_leaves;
}

template <int N>
void measure(const texts& from) {
  using structure = structures<binding>::template of<N, unkept_hash>;
  constexpr int lives = 40;
  const std::uint64_t start = harness::thread_cpu_ns();
  for (int i = 0; i < lives; ++i) {
    binding bound;
    binding::life life(bound);
    leaf_cursor leaves(from);
    structure made(life.allocator_of<typename structure::value_type>());
    fill(made, elements<N>(), leaves);
    write_leaves(made);
  }
  const std::uint64_t end = harness::thread_cpu_ns();
  std::printf("DS%d %.4f\n", N, static_cast<double>(end - start) / lives / (1 << 14));
}

void all_structures() {
  const texts from;
  [&]<int... N>(std::integer_sequence<int, N...>) {
    (measure<N + 1>(from), ...);
  }(std::make_integer_sequence<int, 12>());
}

double resident_mib() {
  long all = 0;
  long resident = 0;
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%ld %ld", &all, &resident) != 2) std::exit(2);
  std::fclose(file);
  return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

// A heap that lives shortly, every block of which is written.
void live(std::size_t bytes) {
  multipool heap;
  constexpr std::size_t size = 1000;
  for (std::size_t taken = 0; taken < bytes; taken += size) {
    void* const p = heap.allocate(size, 8).data;
    if (p == nullptr) std::exit(2);
    std::memset(p, 1, size);
  }
}

void returned(std::size_t gib) {
  const std::size_t bytes = gib << 30;
  std::printf("before %.1f\n", resident_mib());
  live(bytes);
  std::printf("after %.1f\n", resident_mib());
  for (int tenths = 0; tenths < 10; ++tenths) {  // now and then something small is allocated
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    live(128 << 10);
  }
  std::printf("later %.1f\n", resident_mib());
  live(bytes);
  process_chunks().trim(0);
  std::printf("trimmed %.1f\n", resident_mib());
}

}  // namespace
}  // namespace mallard::bench

int main(int count, char** words) {
  const std::string_view what = count > 1 ? words[1] : "";
  if (what == "structures" && count == 2)
    mallard::bench::all_structures();
  else if (what == "returned" && count == 3)
    mallard::bench::returned(static_cast<std::size_t>(std::atoi(words[2])));
  else
    return std::fputs("usage: process structures | process returned GIB\n", stderr), 2;
}
