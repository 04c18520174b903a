// Blocks, facades and children hold a heap's address.
// error: /use of deleted|deleted constructor/
#include "mallard/heap/multipool.hpp"

void use(mallard::multipool& heap) {
#if defined(MISTAKE)
  const mallard::multipool copy(heap);
#else
  const mallard::multipool& copy(heap);
#endif
  (void)copy.usage();
}
