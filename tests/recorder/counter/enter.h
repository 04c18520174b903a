// enter, leave: one call of an entry point, counted if it is not made from inside another one of the same
// thread: operator new is one `new`, the malloc in it is not a second event.
//
// A call is counted when it is made, whether it succeeds, fails or throws.
#ifndef MALLARD_TESTS_RECORDER_COUNTER_ENTER_H
#define MALLARD_TESTS_RECORDER_COUNTER_ENTER_H

#include "counter/counts.h"

void enter(enum counted_kind kind);
void leave(void);

#endif
