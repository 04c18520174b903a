// A string whose characters are malloc's: nobody would give them back.
// error: the destructor of T would never run
#include <string>

#include "mallard/allocator/winkout.hpp"
#include "mallard/heap/multipool.hpp"

#if defined(MISTAKE)
using text = std::string;
#else
using text = std::basic_string<char, std::char_traits<char>, mallard::allocator<char, mallard::multipool> >;
#endif

text& build(mallard::multipool& heap) { return mallard::winkout<text>(heap, "in the heap"); }
