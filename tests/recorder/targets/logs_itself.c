// Allocates and frees in several threads, and keeps its own log of it in a shared file: what a journal has
// to hold, whichever process is killed.
//
//     logs_itself LOG THREADS MILLISECONDS
//
// LOG is THREADS times struct thread_log, see recorder/kill_test.cpp. Says "ready" once the threads run.
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { entries = 1 << 19, blocks = 64, burst = 200 };

struct entry {
  uint64_t ns;
  uint64_t address;
  uint64_t size;  // 0: a free
};

struct thread_log {
  uint64_t system_id;
  uint64_t count;
  struct entry entry[entries];
};

static uint64_t end_ns;

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void put(struct thread_log* log, const void* address, uint64_t size) {
  const uint64_t at = log->count;
  log->entry[at].ns = now_ns();
  log->entry[at].address = (uint64_t)(uintptr_t)address;
  log->entry[at].size = size;
  __atomic_store_n(&log->count, at + 1, __ATOMIC_RELEASE);
}

static void* work(void* argument) {
  struct thread_log* log = argument;
  void* live[blocks] = {0};
  log->system_id = (uint64_t)syscall(SYS_gettid);
  for (unsigned i = 0; log->count + 2 < entries && now_ns() < end_ns; ++i) {
    void** slot = &live[i * 7 % blocks];
    if (*slot != 0) {
      const void* freed = *slot;
      free(*slot);
      put(log, freed, 0);
    }
    const uint64_t size = 7000 + i % 1000;
    *slot = malloc(size);
    put(log, *slot, size);
    if (i % burst == 0) usleep(500);
  }
  return 0;
}

int main(int count, char** arguments) {
  if (count != 4) return 2;
  const int threads = atoi(arguments[2]);
  const int file = open(arguments[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
  const size_t bytes = (size_t)threads * sizeof(struct thread_log);
  if (file < 0 || ftruncate(file, (off_t)bytes) != 0) return 2;
  struct thread_log* logs = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (logs == MAP_FAILED) return 2;
  end_ns = now_ns() + (uint64_t)atoi(arguments[3]) * 1000000u;
  pthread_t id[64];
  for (int i = 0; i < threads; ++i) pthread_create(&id[i], 0, work, &logs[i]);
  puts("ready");
  fflush(stdout);
  for (int i = 0; i < threads; ++i) pthread_join(id[i], 0);
  puts("done");
  return 0;
}
