// Samples that come in one by one: a vector of Boost.Container that asks its heap to grow its block where it
// is, and to take back the end when most samples are dropped. The same vector with a plain allocator beside
// it.
#include <boost/container/vector.hpp>
#include <cstdio>

#include "mallard/allocator/allocator.hpp"
#include "mallard/allocator/v2_allocator.hpp"
#include "mallard/heap/best_fit.hpp"

namespace {

template <class Allocator>
void collect(const char* name) {
  mallard::best_fit heap;
  boost::container::vector<int, Allocator> samples{Allocator(heap)};
  int moves = 0;
  const auto moved = [&samples, &moves](auto change) {
    const int* const before = samples.data();
    change();
    if (before != nullptr && samples.data() != before) ++moves;
  };
  for (int i = 0; i < 10'000; ++i) moved([&] { samples.push_back(i); });
  std::printf("%s: 10000 samples were moved %d times", name, moves);
  samples.resize(1000);
  moves = 0;
  moved([&] { samples.shrink_to_fit(); });
  std::printf(", and %s when all but 1000 were dropped\n", moves == 0 ? "never" : "once more");
}

}  // namespace

int main() {
  collect<mallard::allocator<int, mallard::best_fit>>("plain");
  collect<mallard::v2_allocator<int, mallard::best_fit>>("in place");
}

// It prints:
//     plain: 10000 samples were moved 21 times, and once more when all but 1000 were dropped
//     in place: 10000 samples were moved 0 times, and never when all but 1000 were dropped
