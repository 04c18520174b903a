// every_operator: calls each form of operator new and delete with blocks of 4321 bytes (aligned ones: 4352),
// three times each, and a delete of null; then writes how many calls of each kind that was.
// every_operator after_error: the same after a dlopen that fails, whose message must be there afterwards.
#include <dlfcn.h>

#include <cstddef>
#include <cstdio>
#include <new>

namespace {

constexpr std::size_t size = 4321;
constexpr std::size_t aligned_size = 4352;
constexpr std::align_val_t alignment{64};

void call_each() {
  ::operator delete(::operator new(size));
  ::operator delete(::operator new(size), size);
  ::operator delete(::operator new(size, std::nothrow), std::nothrow);
  ::operator delete(::operator new(aligned_size, alignment), alignment);
  ::operator delete(::operator new(aligned_size, alignment), aligned_size, alignment);
  ::operator delete(::operator new(aligned_size, alignment, std::nothrow), alignment, std::nothrow);
  ::operator delete[](::operator new[](size));
  ::operator delete[](::operator new[](size), size);
  ::operator delete[](::operator new[](size, std::nothrow), std::nothrow);
  ::operator delete[](::operator new[](aligned_size, alignment), alignment);
  ::operator delete[](::operator new[](aligned_size, alignment), aligned_size, alignment);
  ::operator delete[](::operator new[](aligned_size, alignment, std::nothrow), alignment, std::nothrow);
  ::operator delete(nullptr);
  ::operator delete[](nullptr, alignment);
}

}  // namespace

int main(int count, char**) {
  if (count == 2) static_cast<void>(dlopen("/none", RTLD_NOW));
  for (int i = 0; i < 3; ++i) call_each();
  if (count == 2 && dlerror() == nullptr) return 1;
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  std::puts("new 18 delete 18 new_array 18 delete_array 18");
}
