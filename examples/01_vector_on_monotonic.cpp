// A vector in an arena: an allocation moves a cursor, a free costs nothing, and everything ends at once.
#include <cstdio>
#include <numeric>
#include <vector>

#include "mallard/allocator/allocator.hpp"
#include "mallard/heap/monotonic.hpp"

int main() {
  mallard::monotonic arena;
  std::printf("at first the arena holds %zu bytes\n", arena.usage().held);
  {
    std::vector<int, mallard::allocator<int, mallard::monotonic>> numbers(arena);
    for (int i = 1; i <= 1000; ++i) numbers.push_back(i);
    std::printf("the sum of %zu numbers is %d\n", numbers.size(),
                std::accumulate(numbers.begin(), numbers.end(), 0));
  }
  std::printf("after the vector's end it still holds %s\n",
              arena.usage().held == 0 ? "nothing" : "its chunks");
  arena.release();
  std::printf("after release it holds %zu bytes\n", arena.usage().held);
}

// It prints:
//     at first the arena holds 0 bytes
//     the sum of 1000 numbers is 500500
//     after the vector's end it still holds its chunks
//     after release it holds 0 bytes
