// Two shared libraries that hide their symbols and use the process's chunk cache.
#pragma once

#include "mallard/source/default_source.hpp"

namespace mallard::libraries {

// The cache as the library sees it.
chunk_cache& first() noexcept;
chunk_cache& second() noexcept;

}  // namespace mallard::libraries
