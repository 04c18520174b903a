// scopes: beginning and ending the annotated scopes of this thread.
//
// Beginning a scope ends those whose function must have returned, since their frames lie below the new one's,
// and one that was begun at the same place before: its function was left and called again. Ending a scope
// ends those that began inside it. Beginning costs reading the name once and a probe of the name table;
// ending a few instructions.
#pragma once

#include <cstdint>

#include "journal/spool/spool.hpp"

namespace mallard::recorder {

// `frame` and `begun` are as in open_scope; the result is for end_scope.
[[nodiscard]] std::uint32_t begin_scope(const char* name, std::uintptr_t frame,
                                        std::uintptr_t begun) noexcept;
void end_scope(std::uint32_t scope) noexcept;

// Moves the names of this thread's scopes to another spool, for a child that gets one of its own.
void move_scopes(journal::spool_header* from, journal::spool_header* to) noexcept;

}  // namespace mallard::recorder
