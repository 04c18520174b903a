#include "recorder/preload/real_operators.hpp"

#include <dlfcn.h>
#include <errno.h>

#include <atomic>

#include "mallard/core/attributes.hpp"

namespace mallard::recorder {
namespace {

constexpr const char* names[] = {
#define MALLARD_NAME(name) #name,
    MALLARD_NEW_FORMS(MALLARD_NAME) MALLARD_DELETE_FORMS(MALLARD_NAME)
#undef MALLARD_NAME
};
constexpr const char* runtimes[] = {"libstdc++.so.6", "libc++abi.so.1", "libc++.so.1"};

std::atomic<void*> found[sizeof names / sizeof *names];

MALLARD_NOINLINE void* look_up(unsigned form) noexcept {
  const int saved_errno = errno;
  void* function = dlsym(RTLD_NEXT, names[form]);
  for (const char* runtime : runtimes) {
    if (function != nullptr) break;
    void* library = dlopen(runtime, RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) continue;
    function = dlsym(library, names[form]);
    dlclose(library);
  }
  found[form].store(function, std::memory_order_release);
  errno = saved_errno;
  return function;
}

}  // namespace

void* real_operator(operator_form form) noexcept {
  void* function = found[static_cast<unsigned>(form)].load(std::memory_order_acquire);
  return function != nullptr ? function : look_up(static_cast<unsigned>(form));
}

}  // namespace mallard::recorder
