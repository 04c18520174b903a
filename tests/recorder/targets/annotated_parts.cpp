// annotated_parts: one region that a program and a library of its own annotate, each by the header alone;
// prints "region kind count". With MALLARD_PART this is the library's part.
#include <cstdint>
#include <cstdio>

#include "mallard/annotate.h"

void annotate_elsewhere(const void* region);

#if defined(MALLARD_PART)

void annotate_elsewhere(const void* region) {
  static char block[8];
  mallard_region_allocate(region, block, sizeof block);
  mallard_region_clear(region);
}

#else

int main() {
  static char region;
  static char block[4][8];
  mallard_region_create(&region, nullptr);
  mallard_region_allocate(&region, block[0], 8);
  annotate_elsewhere(&region);
  mallard_region_destroy(&region);
  const auto name = static_cast<unsigned long>(reinterpret_cast<std::uintptr_t>(&region));
  std::printf("%lu region_create 1\n%lu region_allocate 2\n%lu region_clear 1\n%lu region_destroy 1\n", name,
              name, name, name);
}

#endif
