// Runs every scenario once, to be counted: instructions.py builds this program, runs it under callgrind
// and prints what it has counted. Alone it does the same work and tells nothing.
// Threads come last, but for reaps, which ask the C library for nothing: once there has been one, its own
// locks take more instructions.

#include "scenarios.hpp"

int main() {
  instructions::own_pairs();
  instructions::region_pairs();
  instructions::pairs_in_c();
  instructions::other_pairs();
  instructions::lives_of_heaps();
  instructions::lives_of_general_heaps();
  instructions::lives_of_adaptive_pools();
  instructions::lives_of_regions();
  instructions::large_blocks();
  instructions::full_chunks();
  instructions::synchronised_pairs();
  instructions::adaptive_pairs();
  instructions::synchronised_general_pairs();
  instructions::reap_pairs();
  instructions::bumping();
  instructions::lives_of_reaps();
}
