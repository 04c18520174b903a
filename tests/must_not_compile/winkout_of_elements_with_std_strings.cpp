// The vector is the heap's, the strings in it are malloc's.
// error: the destructor of T would never run
#include <memory_resource>
#include <string>
#include <vector>

#include "mallard/allocator/winkout.hpp"
#include "mallard/heap/monotonic.hpp"

#if defined(MISTAKE)
using lines = std::pmr::vector<std::string>;
#else
using lines = std::pmr::vector<std::pmr::string>;
#endif

lines& build(mallard::resource<mallard::monotonic>& memory) { return mallard::winkout<lines>(memory); }
