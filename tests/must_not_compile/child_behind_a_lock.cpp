// Its parent would change what they share without that lock.
// error: /no matching (function|constructor)/
#include "mallard/heap/reap.hpp"
#include "mallard/layer/locked.hpp"

void use(mallard::reap& parent) {
#if defined(MISTAKE)
  const mallard::locked<mallard::reap> child(parent, mallard::nesting::ends_with_parent);
#else
  const mallard::reap child(parent, mallard::nesting::ends_with_parent);
#endif
  (void)child.usage();
}
