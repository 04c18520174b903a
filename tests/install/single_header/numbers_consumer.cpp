// One of two units of a program that has nothing but the header beside it.
#include <cstdio>

#include "mallard.hpp"

std::size_t numbers_in_a_pool();

int main() {
  mallard::resource<mallard::monotonic> memory;
  const std::pmr::vector<int> numbers({1, 2, 3}, &memory);
  if (numbers_in_a_pool() != numbers.size()) return 1;
  std::printf("mallard %d.%d.%d holds %zu numbers\n", MALLARD_VERSION_MAJOR, MALLARD_VERSION_MINOR,
              MALLARD_VERSION_PATCH, numbers.size());
}
