// sweep: multipool with its largest class at 4 KiB to 1 MiB, on one trace.
//
//     Largest   larger: few blocks pass through to the source; what they needed stays held
//               smaller: more of them cost the source's time, but they give their memory back
//
// For each, what is held, and the CPU time and page faults of passes that write every byte, as programs
// do: over the process's chunk cache and over the system alone, of which the second is the dearest source.
#pragma once

#include <nlohmann/json.hpp>

#include "replay/trace/trace.hpp"

namespace mallard::footprint {

[[nodiscard]] nlohmann::ordered_json sweep(const replay::trace& t);

}  // namespace mallard::footprint
