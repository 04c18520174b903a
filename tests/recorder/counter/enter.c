// A private page says which file the process counts in. The kernel gives a forked child zeros in its place,
// however it was forked, which is how the child knows that it needs a file of its own. A child that
// shares its parent's memory (vfork) shares its heap as well, and counts for it.
#define _GNU_SOURCE
#include "counter/enter.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct own_page {
  struct counts* file;
};

static __thread unsigned depth __attribute__((tls_model("initial-exec")));
static struct counts before_start;  // calls of libraries that are initialised before this one
static struct own_page* own;
static char folder[3000];

static void give_up(const char* what) {
  static const char name[] = "counter: ";
  if (write(2, name, sizeof name - 1) < 0 || write(2, what, strlen(what)) < 0 || write(2, "\n", 1) < 0)
    abort();
  _exit(124);
}

static struct counts* new_file(void) {
  char path[sizeof folder + 64];
  int descriptor = -1;
  for (int program = 0; descriptor < 0; ++program) {
    snprintf(path, sizeof path, "%s/%d.%d", folder, (int)getpid(), program);
    descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0 && errno != EEXIST) give_up("cannot make a file in COUNTS_DIR");
  }
  if (posix_fallocate(descriptor, 0, sizeof(struct counts)) != 0) give_up("no room in COUNTS_DIR");
  struct counts* file = mmap(NULL, sizeof *file, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (file == MAP_FAILED) give_up("cannot map a file");
  close(descriptor);
  const ssize_t length = readlink("/proc/self/exe", file->program, sizeof file->program - 1);
  file->program[length < 0 ? 0 : length] = 0;
  file->forked = own != NULL;
  return file;
}

__attribute__((constructor)) static void start(void) {
  const char* chosen = getenv("COUNTS_DIR");
  if (chosen == NULL || strlen(chosen) >= sizeof folder) give_up("no COUNTS_DIR");
  strcpy(folder, chosen);
  struct own_page* page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED || madvise(page, 4096, MADV_WIPEONFORK) != 0) give_up("no page of its own");
  page->file = new_file();
  for (int kind = 0; kind < counted_kinds; ++kind) page->file->of_kind[kind] = before_start.of_kind[kind];
  own = page;
}

static struct counts* current(void) {
  if (own == NULL) return &before_start;
  struct counts* file = __atomic_load_n(&own->file, __ATOMIC_ACQUIRE);
  if (file == NULL) {  // the only thread of a forked child
    const int error = errno;
    file = new_file();
    __atomic_store_n(&own->file, file, __ATOMIC_RELEASE);
    errno = error;
  }
  return file;
}

void enter(enum counted_kind kind) {
  if (depth++ == 0) __atomic_fetch_add(&current()->of_kind[kind], 1, __ATOMIC_RELAXED);
}

void leave(void) { --depth; }
