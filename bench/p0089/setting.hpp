// setting: what one group is measured with, a line of one of the paper's tables, as plain data.
//
// Sizes are binary exponents where the paper writes them so. Seed 000, sections 7 to 10.
#pragma once

#include <cstdint>
#include <string_view>

namespace mallard::p0089 {

enum class benchmark : std::uint8_t { density, locality, utilization, contention };

[[nodiscard]] constexpr std::string_view name_of(benchmark b) noexcept {
  switch (b) {
    case benchmark::density:
      return "density";
    case benchmark::locality:
      return "locality";
    case benchmark::utilization:
      return "utilization";
    case benchmark::contention:
      return "contention";
  }
  return "";
}

// I: structure DS1..DS12 of 2^size elements, made and destroyed until 2^leaves leaves have been written.
struct density_setting {
  std::uint32_t structure = 1;
  std::uint32_t size = 6;
  std::uint32_t leaves = 20;
  bool cached_hashes = true;  // nodes of sets keep their hashes
};

// II: what is measured in one process.
//
//     splits      |G| = 2^global, |S| = 2^subsystem: af * rf = 2^product, rf = 1, 2, 4 ... before the shuffle
//                 of factor `shuffles` and after it (Tables 16 to 21)
//     factors     |G| = 10^global, |S| = 10^subsystem: af 10, after each of `shuffles` shuffles (Table 15)
//     run         one run in the paper's notation
enum class locality_table : std::uint8_t { splits, factors, run };

// (|G|, |S|, af, sf, rf), the signs taken apart.
struct locality_run {
  std::uint64_t global = 0;
  std::uint64_t subsystem = 0;
  std::uint64_t access = 0;
  std::uint64_t shuffle = 0;
  std::uint64_t repeat = 0;
  bool access_first = false;
};

struct locality_setting {
  locality_table table = locality_table::splits;
  std::uint32_t global = 18;
  std::uint32_t subsystem = 10;
  std::uint32_t shuffles = 5;
  std::uint32_t product = 8;
  std::uint64_t accesses = std::uint64_t{1} << 22;  // timed, a figure, about
  locality_run run;
};

// III: 2^total bytes in blocks of 2^block, 2^active of them live at once.
struct utilization_setting {
  std::uint32_t total = 30;
  std::uint32_t active = 15;
  std::uint32_t block = 10;
};

// IV: 2^iterations pairs of 2^block bytes in each of `threads` threads.
struct contention_setting {
  std::uint32_t iterations = 15;
  std::uint32_t block = 6;
  std::uint32_t threads = 1;
};

struct setting {
  benchmark which = benchmark::density;
  density_setting density;
  locality_setting locality;
  utilization_setting utilization;
  contention_setting contention;
  std::uint32_t litter = 0;  // times the live objects; 0: a fresh heap
};

}  // namespace mallard::p0089
