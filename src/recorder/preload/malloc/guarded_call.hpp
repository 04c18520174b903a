// guarded_call: calls a real operator new, which may throw through the recorder.
//
//     program -> operator new here (marks the call) -> guarded_call -> real operator new -> throws
//                                                         ^ its personality takes the mark away
//
// The recorder has no exceptions of its own and links no C++ runtime, so its frames have no clean-up. The
// one frame of guarded_call names a personality routine that records and ends the marked call when the
// unwinder passes it, and asks for nothing else. A few instructions in assembler, since only there can a
// function name its personality.
#pragma once

#include <cstddef>

#include "recorder/preload/event/note.hpp"

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
