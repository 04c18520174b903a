#include "recorder/preload/process/real_process.hpp"

#include <dlfcn.h>

#include <atomic>

#include "recorder/preload/event/call.hpp"

namespace mallard::recorder {
namespace {

real_process_functions found{};
std::atomic<bool> looked_up{false};

template <class Function>
void find(Function& where, const char* name) noexcept {
  where = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

void look_up() noexcept {
  const call outer;  // what the loader allocates is not the program's
  find(found.execve, "execve");
  find(found.execvpe, "execvpe");
  find(found.fexecve, "fexecve");
  find(found.execveat, "execveat");
  find(found.posix_spawn, "posix_spawn");
  find(found.posix_spawnp, "posix_spawnp");
  find(found.popen, "popen");
  find(found.system, "system");
  find(found.leave, "_exit");
  find(found.dlopen, "dlopen");
  find(found.dlclose, "dlclose");
  looked_up.store(true, std::memory_order_release);
}

[[gnu::constructor]] void at_start() noexcept { static_cast<void>(real_process()); }

}  // namespace

const real_process_functions& real_process() noexcept {
  if (!looked_up.load(std::memory_order_acquire)) look_up();
  return found;
}

}  // namespace mallard::recorder
