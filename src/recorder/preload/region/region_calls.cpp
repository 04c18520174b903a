#include "recorder/preload/region/region_calls.hpp"

#include <dlfcn.h>
#include <errno.h>

namespace mallard::recorder {
namespace {

bool is_here(const void* address) noexcept {
  Dl_info there{};
  Dl_info here{};
  return dladdr(address, &there) != 0 && dladdr(reinterpret_cast<const void*>(&is_here), &here) != 0 &&
         there.dli_fbase == here.dli_fbase;
}

// Keeps the module that the code at `caller` is in, and so what it needs, if the function is found there.
void* find_from(const char* name, const void* caller) noexcept {
  Dl_info module{};
  if (dladdr(caller, &module) == 0 || module.dli_fname == nullptr) return nullptr;
  void* handle = dlopen(module.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return nullptr;
  void* found = dlsym(handle, name);
  if (found != nullptr && !is_here(found)) return found;
  dlclose(handle);
  return nullptr;
}

}  // namespace

MALLARD_NOINLINE void* find_library_function(const char* name, const void* caller) noexcept {
  const call not_the_programs;
  const int saved_errno = errno;
  void* found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) found = find_from(name, caller);
  dlerror();  // of the look-ups that failed
  errno = saved_errno;
  return found;
}

}  // namespace mallard::recorder
