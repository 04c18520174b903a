// family: a process forks children, which allocate, fork again and end in different ways; each generation
// makes its own number of calls, by which it is recognised.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

void allocate(std::size_t count) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < count; ++i) words.emplace_back(100, 'x');
}

int wait_for(pid_t child) {
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) std::abort();
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// A child that lives `generations` deep and passes on how its own child ended.
int live(std::size_t generations) {
  allocate(100 * generations);
  if (generations == 0) return 7;
  const pid_t child = fork();
  if (child == 0) std::exit(live(generations - 1));
  const int status = wait_for(child);
  allocate(10);
  return status;
}

}  // namespace

int main() {
  allocate(50000);
  std::printf("line of %d\n", live(3));
  std::fflush(stdout);
  for (std::size_t i = 1; i <= 5; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      allocate(1000 * i);
      if (i == 3) std::abort();
      _exit(static_cast<int>(i));
    }
    std::printf("child %zu: %d\n", i, wait_for(child));
    std::fflush(stdout);
  }
  allocate(2000);
  return 3;
}
