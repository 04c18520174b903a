// forks_in_scope: forks inside of a scope; the child allocates 5101 bytes there, and 5102 in a scope of its
// own.
#include <cstdlib>

#include <sys/wait.h>
#include <unistd.h>

#include "mallard/annotate.h"

int main() {
  const mallard::scope outer("outer");
  std::free(std::malloc(5100));
  const pid_t child = fork();
  if (child == 0) {
    std::free(std::malloc(5101));
    const mallard::scope inner("inner");
    std::free(std::malloc(5102));
    _exit(0);
  }
  int status = -1;
  return waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}
