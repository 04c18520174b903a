// setting: what one group is measured with, a line of one of a paper's tables, as plain data.
//
// Sizes are binary exponents where the paper writes them so. Seed 000, sections 7 to 10; seed 001, chapters 1
// to 3.
#pragma once

#include <cstdint>
#include <string_view>

namespace mallard::bench {

enum class benchmark : std::uint8_t {
  density,
  locality,
  utilization,
  contention,
  expansion,
  shrink,
  burst,
  pools
};

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
    case benchmark::expansion:
      return "expansion";
    case benchmark::shrink:
      return "shrink";
    case benchmark::burst:
      return "burst";
    case benchmark::pools:
      return "pools";
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

// Of seed 001: vectors of `elements`, or blocks of as many objects, one after the other.
enum class expansion_work : std::uint8_t { push_back, command };

[[nodiscard]] constexpr std::string_view name_of(expansion_work w) noexcept {
  return w == expansion_work::push_back ? "push_back" : "command";
}

struct expansion_setting {
  expansion_work work = expansion_work::push_back;
  std::uint32_t elements = 1000;
  std::uint32_t iterations = 1000;
};

// Vectors that lose their `elements` little by little, one after the other.
struct shrink_setting {
  std::uint32_t elements = 500;
  std::uint32_t iterations = 100;
};

// `iterations` ranges of `elements` in one list.
struct burst_setting {
  std::uint32_t elements = 100;
  std::uint32_t iterations = 1000;
};

// Nodes of pools: `iterations` ranges of `elements` in one list; that many single ones; or a list of that
// many in each of several threads, filled and emptied so often.
enum class pools_work : std::uint8_t { ranges, nodes, threads };

[[nodiscard]] constexpr std::string_view name_of(pools_work w) noexcept {
  switch (w) {
    case pools_work::ranges:
      return "ranges";
    case pools_work::nodes:
      return "nodes";
    case pools_work::threads:
      return "threads";
  }
  return "";
}

struct pools_setting {
  pools_work work = pools_work::ranges;
  std::uint32_t elements = 100;
  std::uint32_t iterations = 1000;
};

struct setting {
  benchmark which = benchmark::density;
  density_setting density;
  locality_setting locality;
  utilization_setting utilization;
  contention_setting contention;
  expansion_setting expansion;
  shrink_setting shrink;
  burst_setting burst;
  pools_setting pools;
  std::uint32_t litter = 0;  // times the live objects; 0: a fresh heap
};

}  // namespace mallard::bench
