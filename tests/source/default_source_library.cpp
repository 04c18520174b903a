// Compiled twice: MALLARD_LIBRARY is the name of the function that it has.
#include "source/default_source_library.hpp"

namespace mallard::libraries {

[[gnu::visibility("default")]] chunk_cache& MALLARD_LIBRARY() noexcept { return process_chunks(); }

}  // namespace mallard::libraries
