/* The header by itself, twice, in the oldest C that it is for. */
#include "mallard.h"

int main(void) {
  mallard_heap_options options = MALLARD_HEAP_OPTIONS;
  return (int)options.kind;
}
