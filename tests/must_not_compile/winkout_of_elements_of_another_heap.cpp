// Elements that take their memory from another kind of heap than the container that they stand in.
// error: the destructor of T would never run
#include <list>
#include <vector>

#include "mallard/allocator/winkout.hpp"
#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/multipool.hpp"

#if defined(MISTAKE)
using inner = std::vector<int, mallard::allocator<int, mallard::multipool>>;
#else
using inner = std::vector<int, mallard::allocator<int, mallard::monotonic>>;
#endif
using outer = std::list<inner, mallard::allocator<inner, mallard::monotonic>>;

outer& build(mallard::monotonic& arena) { return mallard::winkout<outer>(arena); }
