// A shared library that hides its symbols and uses the process's chunk cache. MALLARD_LIBRARY is the name of
// the function that tells which cache it sees.
#include "mallard/source/default_source.hpp"

extern "C" [[gnu::visibility("default")]] mallard::chunk_cache* MALLARD_LIBRARY() noexcept {
  static_cast<void>(mallard::process_chunks().limit());
  return &mallard::process_chunks();
}
