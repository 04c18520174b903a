// counts: what the counter library sees of one process, in a file that the tests read later. Nothing here is
// the recorder's.
//
//     COUNTS_DIR/PID.N: [counts: program, forked or not, one number a kind]
//
// N distinguishes the programs a process becomes by exec. Every number is final the moment it is
// written: the file is a MAP_SHARED mapping, so no way to end a process loses anything.
#ifndef MALLARD_TESTS_RECORDER_COUNTER_COUNTS_H
#define MALLARD_TESTS_RECORDER_COUNTER_COUNTS_H

#include <stdint.h>

// Named as the journal names its kinds; all forms of one operator are one kind.
#define MALLARD_COUNTED_KINDS(X) \
  X(malloc)                      \
  X(calloc)                      \
  X(realloc)                     \
  X(reallocarray)                \
  X(free)                        \
  X(free_sized)                  \
  X(free_aligned_sized)          \
  X(posix_memalign)              \
  X(aligned_alloc)               \
  X(memalign)                    \
  X(valloc)                      \
  X(pvalloc)                     \
  X(new)                         \
  X(new_array)                   \
  X(delete)                      \
  X(delete_array)

#define MALLARD_COUNTED_KIND(name) counted_##name,
enum counted_kind { MALLARD_COUNTED_KINDS(MALLARD_COUNTED_KIND) counted_kinds };
#undef MALLARD_COUNTED_KIND

struct counts {
  char program[256];  // path of the executable
  uint64_t forked;    // 0: its program was started by it, by exec
  uint64_t of_kind[counted_kinds];
};

#endif
