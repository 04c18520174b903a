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

namespace mallard::recorder {

// function(first, second, third); functions with fewer parameters do not see the rest.
extern "C" void* mallard_guarded_call(void* function, std::size_t first, std::size_t second,
                                      const void* third);

}  // namespace mallard::recorder
