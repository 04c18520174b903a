// Runs every scenario once, or the one that is named, to be counted: instructions.py builds this program,
// runs it under callgrind and prints what it has counted. Alone it does the same work and prints nothing.
//
//     instructions [PLACED [SHIFTED [SCENARIO]]]
//
// Heaps have their memory PLACED pages behind the usual place, and SHIFTED pages are mapped before that.
// Threads come last, but for reaps, which ask the C library for nothing: once there has been one, its own
// locks take more instructions.

#include <valgrind/valgrind.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>

#include "harness/placement.hpp"
#include "mallard/source/default_source.hpp"
#include "scenarios.hpp"

namespace {

struct scenario {
  std::string_view name;
  void (*run)();
  bool is_apart = false;  // runs only where it is named: others would find another heap behind it
};

constexpr std::array scenarios{
    scenario{"own_pairs", instructions::own_pairs},
    scenario{"region_pairs", instructions::region_pairs},
    scenario{"pairs_in_c", instructions::pairs_in_c},
    scenario{"other_pairs", instructions::other_pairs},
    scenario{"lives_of_heaps", instructions::lives_of_heaps},
    scenario{"lives_of_general_heaps", instructions::lives_of_general_heaps},
    scenario{"lives_of_adaptive_pools", instructions::lives_of_adaptive_pools},
    scenario{"lives_of_regions", instructions::lives_of_regions},
    scenario{"large_blocks", instructions::large_blocks},
    scenario{"full_chunks", instructions::full_chunks},
    scenario{"synchronised_pairs", instructions::synchronised_pairs},
    scenario{"adaptive_pairs", instructions::adaptive_pairs},
    scenario{"synchronised_general_pairs", instructions::synchronised_general_pairs},
    scenario{"reap_pairs", instructions::reap_pairs},
    scenario{"bumping", instructions::bumping},
    scenario{"lives_of_reaps", instructions::lives_of_reaps},
    scenario{"further_heaps", instructions::further_heaps},
    scenario{"malloc_pairs", instructions::malloc_pairs, true},
};

std::size_t pages(std::span<char* const> given, std::size_t which) {
  return which < given.size() ? std::strtoul(given[which], nullptr, 10) : 0;
}

}  // namespace

void instructions::begin_with_an_empty_cache() {
  constexpr std::uint64_t an_hour = 3'600'000;  // ms
  mallard::chunk_cache& cache = mallard::process_chunks();
  cache.trim(0);
  cache.set_keep_time(an_hour);
}

int main(int argc, char** argv) {
  const std::span given(argv, static_cast<std::size_t>(argc));
  const std::string_view wanted = given.size() > 3 ? given[3] : "";
  for (std::size_t shifted = pages(given, 2); shifted != 0; --shifted)
    mallard::harness::take_addresses(mallard::harness::placement_page);
  if (RUNNING_ON_VALGRIND != 0 && !mallard::harness::place_memory(pages(given, 1))) {
    std::fputs("instructions: memory does not come from where it is wanted\n", stderr);
    return EXIT_FAILURE;
  }
  bool is_known = wanted.empty();
  for (const scenario& s : scenarios) {
    if (wanted.empty() ? s.is_apart : wanted != s.name) continue;
    is_known = true;
    instructions::begin_with_an_empty_cache();
    s.run();
  }
  if (is_known) return EXIT_SUCCESS;
  std::fprintf(stderr, "instructions: no scenario is named %s\n", given[3]);
  return EXIT_FAILURE;
}
