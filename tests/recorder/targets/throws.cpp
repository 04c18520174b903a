// throws: operator new throws, again and again and from every form of it, and so do constructors of what it
// has made room for; then 1000 blocks of 5151 bytes come and go. Says how often it caught what.
#include <cstddef>
#include <cstdint>
#include <cstdio>
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

}  // namespace

int main() {
  int caught = 0;
  for (int i = 0; i < rounds; ++i) caught += throw_each(i);
  for (int i = 0; i < 1000; ++i) ::operator delete(::operator new(little));
  std::printf("%d of %d\n", caught, rounds * 8);
}
