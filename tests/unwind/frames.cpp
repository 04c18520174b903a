#include "unwind/walks.hpp"

#include <alloca.h>

namespace mallard::unwind::test::MALLARD_FRAMES {

namespace {

void keep(void* place) { asm volatile("" : : "r"(place) : "memory"); }

// Its arguments do not fit the registers: the stack pointer moves between calls.
[[gnu::noinline]] long sum_of(long a, long b, long c, long d, long e, long f, long g, long h, callback inner,
                              void* data) {
  inner(data);
  return a + b + c + d + e + f + g + h;
}

}  // namespace

void plain(int depth, callback inner, void* data) {
  if (depth == 0)
    inner(data);
  else
    plain(depth - 1, inner, data);
  keep(data);  // no call in tail position
}

void with_alloca(std::size_t bytes, callback inner, void* data) {
  keep(alloca(bytes));
  plain(1, inner, data);
  keep(data);
}

void over_aligned(callback inner, void* data) {
  alignas(128) char place[256];
  keep(place);
  plain(1, inner, data);
  keep(place);
}

void over_aligned_with_alloca(std::size_t bytes, callback inner, void* data) {
  alignas(64) char place[64];
  keep(place);
  keep(alloca(bytes));
  plain(1, inner, data);
  keep(place);
}

void with_many_arguments(callback inner, void* data) {
  long sum = sum_of(1, 2, 3, 4, 5, 6, 7, 8, inner, data);
  keep(&sum);
}

}  // namespace mallard::unwind::test::MALLARD_FRAMES
