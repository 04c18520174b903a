// There is no heap by default: a container is given one.
// error: /no matching (function for call|constructor)/
#include <vector>

#include "mallard/allocator/allocator.hpp"
#include "mallard/heap/monotonic.hpp"

std::size_t size([[maybe_unused]] mallard::monotonic& heap) {
#if defined(MISTAKE)
  const std::vector<int, mallard::allocator<int, mallard::monotonic>> numbers;
#else
  const std::vector<int, mallard::allocator<int, mallard::monotonic>> numbers(heap);
#endif
  return numbers.size();
}
