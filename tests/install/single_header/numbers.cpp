// The other unit of a program that has nothing but the header beside it.
#include "mallard.hpp"

std::size_t numbers_in_a_pool() {
  mallard::multipool heap;
  return mallard::winkout<std::vector<int, mallard::allocator<int, mallard::multipool>>>(heap, 3u).size();
}
