// A program outside the tree: it sees the library only by the way it was found.
#include <cstdio>
#include <vector>

#include "mallard/core/version.hpp"
#include "mallard/mallard.hpp"

int main() {
  mallard::monotonic arena;
  const std::vector<int, mallard::allocator<int, mallard::monotonic>> numbers({1, 2, 3}, arena);
  std::printf("mallard %d.%d.%d holds %zu numbers\n", MALLARD_VERSION_MAJOR, MALLARD_VERSION_MINOR,
              MALLARD_VERSION_PATCH, numbers.size());
}
