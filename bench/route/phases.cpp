// Eight phases that follow one another, each with a call site that has nearly all of the memory meanwhile.
//
//     memory   |/|__/|__      site 1 in phase 1, site 2 in phase 2 ...     what each leaves behind: one in a
//              1  2  3 ...                                                 thousand, until the end
//
// A pool for each site must not need the memory of all phases: what a pool has given back is for the next.
// Each phase has blocks of the other sites as well, one in ten. It prints a sum that is the same under every
// malloc.
//
//     phases [BLOCKS]        of each phase, 100,000 by default
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

namespace {

constexpr std::size_t sites = 8;

// Its own code for each site: only the place of the call tells it from others.
template <std::size_t Site>
[[gnu::noinline]] char* make(unsigned mark) {
  char* const block = new char[40 + 24 * Site];
  std::memset(block, static_cast<int>(mark % 127), 40 + 24 * Site);
  return block;
}

using maker = char* (*)(unsigned);
template <std::size_t... Site>
constexpr std::array<maker, sites> all_makers(std::index_sequence<Site...> /*unused*/) {
  return {make<Site>...};
}
constexpr auto makers = all_makers(std::make_index_sequence<sites>());

}  // namespace

int main(int count, char** arguments) {
  const std::size_t blocks = count > 1 ? std::strtoul(arguments[1], nullptr, 10) : 100'000;
  if (blocks == 0) {
    std::fprintf(stderr, "usage: phases [BLOCKS]\n");
    return 2;
  }
  std::mt19937 random(1);
  std::vector<char*> kept;
  std::vector<char*> now(blocks);
  unsigned long sum = 0;
  for (std::size_t phase = 0; phase != sites; ++phase) {
    for (char*& block : now) {
      const std::size_t site = random() % 10 == 0 ? random() % sites : phase;
      block = makers[site](static_cast<unsigned>(random()));
    }
    for (char* const block : now) {
      sum += static_cast<unsigned char>(block[7]);
      if (random() % 1000 == 0)
        kept.push_back(block);
      else
        delete[] block;
    }
  }
  for (char* const block : kept) delete[] block;
  std::printf("sum %lu, %zu kept\n", sum, kept.size());
  return 0;
}
