// guarded_call: calls a real operator new, which may throw through the recorder.
//
//     program -> operator new here (marks the call) -> guarded_call -> real operator new -> throws
//                                                         ^ its personality takes the mark away
//
// The recorder is built without exceptions and links no C++ runtime, so its frames have no clean-up. The one
// frame of guarded_call has a personality routine that records and ends the marked call when the unwinder
// passes it. guarded_call is written in assembler, since only there can a function name its personality
// routine.
#pragma once

#include <cstddef>

#include "recorder/preload/event/emit_event.hpp"

namespace mallard::recorder {

// An event whose real call has not returned yet.
struct open_event {
  event_fields fields;
  call_site site;
};

// Of the operator new that this thread is in, if that is called by way of guarded_call.
extern thread_local constinit const open_event* event_of_new;

// function(first, second, third); functions with fewer parameters do not see the rest.
extern "C" void* mallard_guarded_call(void* function, std::size_t first, std::size_t second,
                                      const void* third);

}  // namespace mallard::recorder
