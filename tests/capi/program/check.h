/* check: a condition that a program in C demands; the first that does not hold ends it. */
#ifndef MALLARD_TESTS_CHECK_H
#define MALLARD_TESTS_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                      \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                \
    }                                                                         \
  } while (0)

void drive_at_random(unsigned flags, void* buffer, size_t buffer_size, unsigned seed);

#endif
