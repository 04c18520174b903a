// The environment variable by which the library learns, in a program that it was loaded into, where to
// record: "PROCESS:PATH", the process that recorded last before it (0: none), and the path of the spool of
// the program that mallard-record started.
#pragma once

namespace mallard::recorder {

inline constexpr char spool_variable[] = "MALLARD_RECORD_SPOOL";

}  // namespace mallard::recorder
