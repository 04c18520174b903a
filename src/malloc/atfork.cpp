// pthread_atfork: the malloc's own handlers are registered before all others.
//
//     a library's pthread_atfork --> __register_atfork() here --> the malloc's, the first time
//                                                      `--------> the C library's
//
// Before a fork, handlers run in the opposite order of their registration. So the malloc's locks are taken
// last: a handler may wait for a thread that needs them. Afterwards they are the first to be free. Where the
// library is not initialised first, constructors of others may register theirs before anybody has allocated;
// that is why the call itself is intercepted. The C library declares it nowhere.
#include <dlfcn.h>
#include <errno.h>

#include "malloc/failed_new.hpp"
#include "malloc/heap_of_thread.hpp"

using namespace mallard::malloc_library;

using fork_handler = void();
using register_function = int(fork_handler*, fork_handler*, fork_handler*, void*);

extern "C" [[gnu::visibility("default")]] int __register_atfork(fork_handler* before, fork_handler* in_parent,
                                                                fork_handler* in_child,
                                                                void* library) noexcept {
  register_for_forks();
  auto* const next = find_function<register_function>(RTLD_NEXT, "__register_atfork");
  return next == nullptr ? ENOMEM : next(before, in_parent, in_child, library);
}
