// exceptions throws: operator new throws, again and again and from every form of it, and so do constructors
// of what
//     it has made room for; then 1000 blocks of 5151 bytes come and go. Says how often it caught what.
// exceptions new_handler: with little address space left, a new handler gives up a reserve, and the request
// succeeds;
//     a second one fails for good, and the handler throws what it likes. Says what happened.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <vector>

namespace {

constexpr int rounds = 300;
volatile std::size_t too_much = PTRDIFF_MAX / 2;
volatile std::size_t little = 5151;

struct refuses {
  explicit refuses(int i) {
    if (i >= 0) throw std::runtime_error("refused");
  }
  char place[100];
};

template <class Call>
int throws(Call&& call) {
  try {
    call();
  } catch (const std::bad_alloc&) {
    return 1;
  } catch (const std::runtime_error&) {
    return 1;
  }
  return 0;
}

int throw_each(int i) {
  constexpr std::align_val_t alignment{128};
  int caught = 0;
  caught += throws([] { ::operator delete(::operator new(too_much)); });
  caught += throws([] { ::operator delete[](::operator new[](too_much)); });
  caught += throws([=] { ::operator delete(::operator new(too_much, alignment), alignment); });
  caught += throws([=] { ::operator delete[](::operator new[](too_much, alignment), alignment); });
  caught += throws([=] { delete new refuses(i); });
  caught += throws([] { std::vector<char> v(too_much); });
  if (::operator new(too_much, std::nothrow) == nullptr) ++caught;
  if (::operator new[](too_much, alignment, std::nothrow) == nullptr) ++caught;
  return caught;
}

int throw_often() {
  int caught = 0;
  for (int i = 0; i < rounds; ++i) caught += throw_each(i);
  for (int i = 0; i < 1000; ++i) ::operator delete(::operator new(little));
  std::printf("%d of %d\n", caught, rounds * 8);
  return 0;
}

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

// Lets this process map no more than `more` bytes from now on.
void limit_to(std::size_t more) {
  char text[64] = {};
  const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (read(file, text, sizeof text - 1) <= 0) std::abort();
  close(file);
  const rlim_t bytes = std::strtoull(text, nullptr, 10) * static_cast<rlim_t>(getpagesize()) + more;
  const rlimit limit = {bytes, bytes};
  if (setrlimit(RLIMIT_AS, &limit) != 0) std::abort();
}

int use_new_handler() {
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
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 99;
  return std::strcmp(arguments[1], "throws") == 0 ? throw_often() : use_new_handler();
}
