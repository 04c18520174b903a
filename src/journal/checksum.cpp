#include "journal/checksum.hpp"

#include <xxhash.h>

namespace mallard::journal {

std::uint64_t checksum(byte_span bytes) noexcept { return XXH3_64bits(bytes.data(), bytes.size()); }

}  // namespace mallard::journal
