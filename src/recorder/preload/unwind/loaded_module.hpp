// The unwind table of the module that holds an address.
//
// Asks the loader, which answers without a lock, and bounds the table by the loaded segment that it is
// in; where the program headers are not at the front of the module, by the module. Safe in a signal
// handler, allocates nothing.
#pragma once

#include <cstdint>

#include "recorder/preload/unwind/eh_frame_table.hpp"

namespace mallard::recorder {

// False if the address is in no module, or in one without .eh_frame_hdr.
[[nodiscard]] bool find_table(std::uintptr_t pc, eh_frame_table& out) noexcept;

}  // namespace mallard::recorder
