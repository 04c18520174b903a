// What the program counts; each tells rows, and the file of its name says which.
#pragma once

namespace instructions {

void own_pairs();
void region_pairs();
void reap_pairs();
void bumping();
void pairs_in_c();
void other_pairs();
void malloc_pairs();
void synchronised_pairs();
void adaptive_pairs();
void synchronised_general_pairs();
void lives_of_heaps();
void lives_of_general_heaps();
void lives_of_adaptive_pools();
void lives_of_regions();
void lives_of_reaps();
void further_heaps();
void large_blocks();
void full_chunks();

// What is in the chunk cache would go back by the clock, more of it where the machine is busy, and heaps
// would have their memory elsewhere: so it stays for as long as any run takes, and what is counted next
// begins with none. Setting the time makes the cache look at the clock now, and then not before much has been
// freed.
void begin_with_an_empty_cache();

}  // namespace instructions
