// scopes: beginning and ending the annotated scopes of this thread.
//
// A scope that is begun ends those whose function must have returned, since their frames lie below the
// new one's, and the one that was begun here before: its function was left, and called again. One that is
// ended ends what began inside it. Beginning costs reading the name once and a probe of the names; ending
// a few instructions.
#pragma once

#include <cstdint>

#include "journal/spool/spool.hpp"

namespace mallard::recorder {

// `frame` and `begun` are as in open_scope; the result is for end_scope.
[[nodiscard]] std::uint32_t begin_scope(const char* name, std::uintptr_t frame,
                                        std::uintptr_t begun) noexcept;
void end_scope(std::uint32_t scope) noexcept;

// Takes this thread's scopes over into another spool, for a process that goes on in one of its own.
void move_scopes(journal::spool_header* from, journal::spool_header* to) noexcept;

}  // namespace mallard::recorder
