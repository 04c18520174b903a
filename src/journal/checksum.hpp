// checksum: XXH3 with 64 bits, which finds damage, not forgery; about 10 GB a second.
#pragma once

#include <cstdint>

#include "journal/wire.hpp"

namespace mallard::journal {

[[nodiscard]] std::uint64_t checksum(byte_span bytes) noexcept;

}  // namespace mallard::journal
