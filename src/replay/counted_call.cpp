#include "replay/counted_call.hpp"

[[gnu::noinline, gnu::visibility("default")]] void mallard_replay_counted(void (*call)(void*),
                                                                          void* argument) {
  call(argument);
  asm volatile("");  // no tail call: the function is left when the call is over
}
