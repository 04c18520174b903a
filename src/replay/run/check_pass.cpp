#include "replay/run/check_pass.hpp"

#include <cstring>

namespace mallard::replay {
namespace {

// The word at a place of a block: odd multipliers, so that neither neighbours nor blocks agree.
constexpr std::uint64_t pattern_word(std::uint64_t seed, std::uint64_t place) {
  return (seed * 0x9E3779B97F4A7C15u) ^ (place * 0xC2B2AE3D27D4EB4Fu + 0x165667B19E3779F9u);
}

}  // namespace

void write_pattern(void* p, std::size_t size, std::uint64_t seed) {
  auto* at = static_cast<std::byte*>(p);
  std::uint64_t place = 0;
  for (; size >= sizeof place; size -= sizeof place, at += sizeof place) {
    const std::uint64_t word = pattern_word(seed, place++);
    std::memcpy(at, &word, sizeof word);
  }
  const std::uint64_t word = pattern_word(seed, place);
  std::memcpy(at, &word, size);
}

bool has_pattern(const void* p, std::size_t size, std::uint64_t seed) {
  const auto* at = static_cast<const std::byte*>(p);
  std::uint64_t place = 0;
  for (; size >= sizeof place; size -= sizeof place, at += sizeof place) {
    const std::uint64_t word = pattern_word(seed, place++);
    if (std::memcmp(at, &word, sizeof word) != 0) return false;
  }
  const std::uint64_t word = pattern_word(seed, place);
  return std::memcmp(at, &word, size) == 0;
}

}  // namespace mallard::replay
