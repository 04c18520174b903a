// new_handler: with little address space left, a new handler gives up a reserve, and the request succeeds; a
// second one fails for good, and the handler throws what it likes. Says what happened.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>

namespace {

constexpr std::size_t megabyte = 1 << 20;

struct nothing_left {};

void* reserve;
int calls;

void give_up_reserve() {
  ++calls;
  if (reserve == nullptr) throw nothing_left();
  ::operator delete(reserve);
  reserve = nullptr;
}

// Lets this process map so many bytes more.
void limit_to(std::size_t more) {
  char text[64] = {};
  const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (read(file, text, sizeof text - 1) <= 0) std::abort();
  close(file);
  const rlim_t bytes = std::strtoull(text, nullptr, 10) * static_cast<rlim_t>(getpagesize()) + more;
  const rlimit limit = {bytes, bytes};
  if (setrlimit(RLIMIT_AS, &limit) != 0) std::abort();
}

}  // namespace

int main() {
  reserve = ::operator new(32 * megabyte);
  limit_to(24 * megabyte);
  std::set_new_handler(give_up_reserve);
  void* p = ::operator new(40 * megabyte);
  std::printf("%s after %d calls\n", p != nullptr ? "served" : "null", calls);
  try {
    ::operator delete(::operator new(40 * megabyte));
    std::puts("served again");
  } catch (const nothing_left&) {
    std::printf("nothing left after %d calls\n", calls);
  }
  std::printf("nothrow: %s\n", ::operator new(40 * megabyte, std::nothrow) == nullptr ? "null" : "served");
  ::operator delete(p);
  std::printf("the handler is still %s\n", std::get_new_handler() == give_up_reserve ? "set" : "another");
  std::printf("calls %d\n", calls);
}
