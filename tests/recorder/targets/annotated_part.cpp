// annotated_part: a library's part of annotated_parts.
#include "mallard/annotate.h"

void annotate_elsewhere(const void* region) {
  static char block[8];
  mallard_region_allocate(region, block, sizeof block);
  mallard_region_clear(region);
}
