// drift: replaces blocks at random for a long time, while the sizes change from phase to phase.
//
//     mean size   16 B  /\    /\    /\           a phase: sizes around one mean, each block replaced many
//     times
//                 2 KiB   \/    \/    \ ...      one block in ten lives through several phases
//
// What a size class no longer needs must serve the others, or go back: resident memory over live bytes tells.
// It prints ten lines: operations, live bytes, and resident bytes, now and at most since the line before. The
// same operations in every run, whatever the malloc.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr std::size_t page = 4096;

class numbers {
 public:
  std::uint64_t operator()() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_;
  }

 private:
  std::uint64_t state_ = 88172645463325252;
};

struct block {
  char* begin = nullptr;
  std::size_t size = 0;
};

// Of phase `n`: from 16 bytes to 2 KiB and back, in doublings.
std::size_t mean_size(std::uint64_t n) {
  constexpr std::uint64_t doublings = 7;
  const std::uint64_t at = n % (2 * doublings);
  return std::size_t{16} << std::min(at, 2 * doublings - at);
}

// Read without a malloc.
std::size_t resident_bytes() {
  std::size_t pages = 0;
  if (std::FILE* const file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%*u %zu", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return pages * page;
}

}  // namespace

// drift [OPERATIONS [BLOCKS [PHASES]]]
int main(int argc, char** argv) {
  const auto argument = [&](int n, std::uint64_t otherwise) {
    return argc > n ? std::strtoull(argv[n], nullptr, 10) : otherwise;
  };
  const std::uint64_t operations = argument(1, 100'000'000);
  const std::uint64_t count = argument(2, 100'000);
  const std::uint64_t phases = argument(3, 47);
  const std::uint64_t slow = count / 10;  // of the blocks: chosen once in fifty times
  const std::uint64_t per_look = std::max<std::uint64_t>(operations / 1000, 1);
  std::vector<block> blocks(count);
  numbers random;
  std::size_t live = 0;
  std::size_t most = 0;
  std::uint64_t lines = 0;
  for (std::uint64_t done = 0; done != operations;) {
    const std::size_t mean = mean_size(done * phases / operations);
    const std::uint64_t r = random();
    const std::uint64_t chosen = r >> 40;
    block& b = blocks[r % 50 == 0 ? chosen % slow : slow + chosen % (count - slow)];
    std::free(b.begin);
    live -= b.size;
    b.size = mean / 2 + (r >> 8 & 0xffffff) % (mean + 1);
    b.begin = static_cast<char*>(std::malloc(b.size));
    if (b.begin == nullptr) return 1;
    for (std::size_t at = 0; at < b.size; at += page) b.begin[at] = 1;
    live += b.size;
    if (++done % per_look != 0) continue;
    const std::size_t resident = resident_bytes();
    most = std::max(most, resident);
    if (done * 10 / operations == lines) continue;
    lines = done * 10 / operations;
    std::printf("%llu %zu %zu %zu\n", static_cast<unsigned long long>(done), live, resident, most);
    most = 0;
  }
  for (const block& b : blocks) std::free(b.begin);
  return 0;
}
