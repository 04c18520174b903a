// Byte quantities as people write them: 4096, 512K, 64M, 4G.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mallard::harness {

// A whole number with an optional K, M, G or T (powers of 1024, either case, a trailing B or iB
// allowed); nothing if it is not one or does not fit.
[[nodiscard]] std::optional<std::uint64_t> parse_bytes(std::string_view text);

// With three significant digits: "831 B", "4.34 MiB".
[[nodiscard]] std::string format_bytes(std::uint64_t bytes);

}  // namespace mallard::harness
