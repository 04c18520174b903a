// What the program counts; each tells rows, and the file of its name says which.
#pragma once

namespace instructions {

void own_pairs();
void other_pairs();
void synchronised_pairs();
void lives_of_heaps();
void large_blocks();
void full_chunks();

}  // namespace instructions
