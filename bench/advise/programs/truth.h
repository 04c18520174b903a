/* What the truth programs share: which input, random numbers, a sum that shows that the work was done.
 *
 *     FILE CASE small|large        a file has several programs, its cases
 *
 * The inputs have other seeds, other numbers of things and other shapes, so that what holds of one need not
 * hold of the other. A run prints the same sum under every malloc. */
#ifndef MALLARD_BENCH_ADVISE_TRUTH_H
#define MALLARD_BENCH_ADVISE_TRUTH_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* A function that stays one, so that stacks name it. */
#define NAMED __attribute__((noinline))

struct input {
  int is_large;
  uint64_t state;
};

/* One figure in the small input, another in the large one. */
static inline uint64_t either(const struct input* in, uint64_t small, uint64_t large) {
  return in->is_large ? large : small;
}

static inline uint64_t draw(struct input* in) {
  in->state ^= in->state << 13;
  in->state ^= in->state >> 7;
  in->state ^= in->state << 17;
  return in->state * 2685821657736338717u;
}

/* From `least` to `most`, both included. */
static inline uint64_t draw_between(struct input* in, uint64_t least, uint64_t most) {
  return least + (draw(in) >> 32) % (most - least + 1);
}

/* The program's other work: steps that wait for each other, 1 ns or so each. */
static inline uint64_t steps(uint64_t x, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    __asm__ volatile("" : "+r"(x));
  }
  return x;
}

struct truth {
  const char* name;
  uint64_t (*run)(struct input* in);
};

static inline int run_truth(int count, char** arguments, const struct truth* all, size_t cases) {
  const int is_small = count == 3 && strcmp(arguments[2], "small") == 0;
  const int is_large = count == 3 && strcmp(arguments[2], "large") == 0;
  for (size_t i = 0; i < cases && (is_small || is_large); ++i) {
    if (strcmp(arguments[1], all[i].name) != 0) continue;
    struct input in = {is_large, is_large ? 0x9e3779b97f4a7c15u : 0x2545f4914f6cdd1du};
    printf("%s %s: %llu\n", arguments[1], arguments[2], (unsigned long long)all[i].run(&in));
    return 0;
  }
  fprintf(stderr, "usage: %s CASE small|large, with CASE one of", arguments[0]);
  for (size_t i = 0; i < cases; ++i) fprintf(stderr, " %s", all[i].name);
  fprintf(stderr, "\n");
  return 2;
}

#endif
