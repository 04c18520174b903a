// jumps_deep malloc|new: a timer's handler leaves whatever runs by siglongjmp, again and again, and often out
// of the entry point asked for; then 1000 blocks of 6666 bytes are allocated, all of them from deeper frames
// than any before, so that no call of the program shows by its place on the stack that an earlier one is
// over. Says how many calls of 16 bytes returned before that. To be run with a malloc that bears it
// (other_malloc): glibc's does not.
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include <sys/time.h>
#include <unistd.h>

namespace {

void* (*volatile allocate)(std::size_t);
sigjmp_buf again;
volatile std::sig_atomic_t jumps;
volatile long returned;  // calls of 16 bytes that the program has seen the end of

extern "C" void jump(int) {
  jumps = jumps + 1;
  siglongjmp(again, 1);
}

int descend(int levels) {
  volatile char frame[64];
  frame[0] = static_cast<char>(levels);
  if (levels > 0) return descend(levels - 1) + frame[0];
  for (int i = 0; i < 1000; ++i) static_cast<char*>(allocate(6666))[0] = 1;
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  const bool by_operator = std::strcmp(arguments[1], "new") == 0;
  allocate = by_operator ? static_cast<void* (*)(std::size_t)>(operator new) : std::malloc;
  std::signal(SIGALRM, jump);
  const itimerval often = {{0, 200}, {0, 200}};
  const itimerval never = {{0, 0}, {0, 0}};
  if (sigsetjmp(again, 1) == 0) setitimer(ITIMER_REAL, &often, nullptr);
  while (jumps < 200) {  // nothing is freed: a jump may leave any block behind
    static_cast<char*>(allocate(16))[0] = 1;
    returned = returned + 1;
  }
  setitimer(ITIMER_REAL, &never, nullptr);
  std::signal(SIGALRM, SIG_IGN);
  char line[40];
  const int length = std::snprintf(line, sizeof line, "%ld\n", returned);
  if (write(1, line, static_cast<std::size_t>(length)) != length) return 3;
  return descend(100) == -1 ? 1 : 0;
}
