// A destructor that does something, and a type that does not promise that it may be left out.
// error: the destructor of T would never run
#include "mallard/allocator/winkout.hpp"
#include "mallard/heap/monotonic.hpp"

struct door {
  ~door() { open = false; }
  bool open = true;
};

#if !defined(MISTAKE)
template <>
inline constexpr bool mallard::winkout_safe<door> = true;
#endif

door& build(mallard::monotonic& heap) { return mallard::winkout<door>(heap); }
