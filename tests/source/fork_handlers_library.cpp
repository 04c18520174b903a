// Loaded and unloaded at run time; uses the process's chunk cache.
#include "mallard/source/default_source.hpp"

extern "C" [[gnu::visibility("default")]] mallard::chunk_cache* see_process_chunks() {
  (void)mallard::process_chunks().limit();
  return &mallard::process_chunks();
}
