// dlclose: the one way by which a module goes, and so the moment to tell what was there and what is gone.
#include <dlfcn.h>

#include "recorder/preload/event/observe.hpp"
#include "recorder/preload/process/real_process.hpp"
#include "recorder/preload/spool/module_list.hpp"

using namespace mallard::recorder;

MALLARD_INTERPOSED int dlclose(void* handle) noexcept {
  if (spool_header* spool = current_spool()) list_modules(spool);
  const int result = real_process().dlclose(handle);
  if (spool_header* spool = current_spool()) forget_gone_modules(spool);
  return result;
}
