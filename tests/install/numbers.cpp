// Both units of a program that has nothing but the header beside it; THE_OTHER is defined for one of them.
#include <cstdio>

#include "mallard.hpp"

std::size_t numbers_in_a_pool();

#ifdef THE_OTHER

std::size_t numbers_in_a_pool() {
  mallard::multipool heap;
  return mallard::winkout<std::vector<int, mallard::allocator<int, mallard::multipool>>>(heap, 3u).size();
}

#else

int main() {
  mallard::resource<mallard::monotonic> memory;
  const std::pmr::vector<int> numbers({1, 2, 3}, &memory);
  if (numbers_in_a_pool() != numbers.size()) return 1;
  std::printf("mallard %d.%d.%d holds %zu numbers\n", MALLARD_VERSION_MAJOR, MALLARD_VERSION_MINOR,
              MALLARD_VERSION_PATCH, numbers.size());
}

#endif
