// scoped: allocations in annotated scopes that end in every way; each has a size of its own.
// scoped fork: forks inside of a scope; the child allocates 5101 bytes there, and 5102 in a scope of its own.
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include <sys/wait.h>
#include <unistd.h>

#include "mallard/annotate.h"

namespace {

void allocate(std::size_t size) { std::free(std::malloc(size)); }

std::jmp_buf back;

[[gnu::noinline]] void throw_out() {
  const mallard::scope thrown("thrown");
  allocate(5003);
  throw std::runtime_error("out");
}

[[gnu::noinline]] void jump_out() {
  mallard_scope_begin("jumped");
  allocate(5005);
  std::longjmp(back, 1);
}

int calls = 0;

[[gnu::noinline]] void forget_to_end() {
  mallard_scope_begin("forgotten");
  allocate(5007 + 10 * static_cast<std::size_t>(calls++));
}

[[gnu::noinline]] void dive(int depth) {
  if (depth == 0) return allocate(5011);
  const mallard::scope level(depth % 2 == 0 ? "even" : "odd");
  dive(depth - 1);
}

int fork_in_scope() {
  const mallard::scope outer("outer");
  allocate(5100);
  const pid_t child = fork();
  if (child == 0) {
    allocate(5101);
    const mallard::scope inner("inner");
    allocate(5102);
    _exit(0);
  }
  int status = -1;
  return waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char**) {
  if (count > 1) return fork_in_scope();
  allocate(5000);
  const mallard::scope outer("outer");
  allocate(5001);
  {
    const mallard::scope inner("inner");
    allocate(5002);
  }
  try {
    throw_out();
  } catch (const std::runtime_error&) {
    allocate(5004);
  }
  if (setjmp(back) == 0)
    jump_out();
  else
    std::free(std::malloc(5006));
  forget_to_end();
  std::free(std::malloc(5008));
  for (int i = 0; i < 3; ++i) forget_to_end();
  std::free(std::malloc(5012));
  const unsigned first = mallard_scope_begin("first");
  const unsigned second = mallard_scope_begin("second");
  mallard_scope_end(first);
  allocate(5009);
  mallard_scope_end(second);
  allocate(5010);
  dive(100);
  char name[16];
  for (int i = 0; i < 200; ++i) {
    std::snprintf(name, sizeof name, "number %d", i);
    const mallard::scope numbered(name);
    allocate(6000 + static_cast<std::size_t>(i));
  }
}
