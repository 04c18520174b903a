/* Programs in C.
 *
 *     scratch   a recursion whose buffers end in the reverse order of their making    [a[b[c]]]
 *     strings   texts that grow by realloc, a few bytes at a time, many at once       [t] [tt] [ttt] ...
 *     compute   nothing is allocated                                                  nothing to gain
 *     little    a block now and then                                                  nothing to gain */
#include <stdlib.h>

#include "truth.h"

NAMED static char* take_scratch(struct input* in, size_t* size) {
  *size = draw_between(in, 300, either(in, 6000, 4000));
  char* const made = malloc(*size);
  memset(made, (int)*size, 256);
  made[*size - 1] = 1;
  return made;
}

static uint64_t evaluate(struct input* in, unsigned depth) {
  size_t sizes[3];
  char* buffers[3];
  const unsigned count = 1 + draw(in) % 3;
  for (unsigned i = 0; i < count; ++i) buffers[i] = take_scratch(in, &sizes[i]);
  uint64_t sum = 0;
  if (depth != 0) {
    const uint64_t children = draw_between(in, 1, either(in, 3, 4));
    for (uint64_t i = 0; i < children; ++i) sum = sum * 3 + evaluate(in, depth - 1);
  }
  for (unsigned i = count; i-- > 0; free(buffers[i]))
    sum += (uint64_t)(unsigned char)buffers[i][sizes[i] - 1] + (uint64_t)(unsigned char)buffers[i][0];
  return sum;
}

static uint64_t scratch(struct input* in) {
  uint64_t sum = 0;
  for (uint64_t i = either(in, 400, 700); i > 0; --i) sum += evaluate(in, (unsigned)either(in, 10, 7));
  return sum;
}

struct text {
  char* begin;
  size_t length;
};

NAMED static void append_text(struct text* one, const char* more, size_t length) {
  one->begin = realloc(one->begin, one->length + length);
  memcpy(one->begin + one->length, more, length);
  one->length += length;
}

static uint64_t strings(struct input* in) {
  enum { texts = 48 };
  static const char words[] = "the quick brown fox jumps over the lazy dog";
  struct text all[texts] = {{NULL, 0}};
  const size_t most = either(in, 12000, 9000);
  uint64_t sum = 0;
  for (uint64_t i = either(in, 2000000, 1700000); i > 0; --i) {
    struct text* const one = &all[draw(in) % texts];
    append_text(one, words, draw_between(in, 4, sizeof words - 1));
    if (one->length < most) continue;
    sum = sum * 3 + one->length + (unsigned char)one->begin[one->length - 1];
    free(one->begin);
    *one = (struct text){NULL, 0};
  }
  for (size_t i = 0; i < texts; ++i) free(all[i].begin);
  return sum;
}

NAMED static uint64_t solve(struct input* in, uint32_t* table, size_t count) {
  uint64_t sum = 0;
  for (size_t i = 0; i < count; ++i) sum += table[draw(in) % count] += (uint32_t)steps(i, 8);
  return sum;
}

static uint64_t compute(struct input* in) {
  static uint32_t table[1 << 16];
  uint64_t sum = 0;
  for (uint64_t i = either(in, 1500, 1900); i > 0; --i) sum ^= solve(in, table, either(in, 1 << 16, 50000));
  return sum;
}

NAMED static uint64_t take_sample(struct input* in) {
  const size_t count = draw_between(in, 8, either(in, 200, 60));
  uint64_t* const samples = malloc(count * sizeof *samples);
  for (size_t i = 0; i < count; ++i) samples[i] = draw(in);
  const uint64_t sum = steps(samples[count / 2], 100000);
  free(samples);
  return sum;
}

static uint64_t little(struct input* in) {
  uint64_t sum = 0;
  for (uint64_t i = either(in, 5000, 6500); i > 0; --i) sum ^= take_sample(in);
  return sum;
}

static const struct truth cases[] = {
    {"scratch", scratch}, {"strings", strings}, {"compute", compute}, {"little", little}};

int main(int count, char** arguments) {
  return run_truth(count, arguments, cases, sizeof cases / sizeof *cases);
}
