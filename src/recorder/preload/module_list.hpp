// The program's modules, written into the spool: what a return address will be looked up in.
//
// Listed from inside the process, because a short program may be gone before anybody could read its
// map: once when recording begins, and once at exit, when what was loaded meanwhile is known too. An
// entry may repeat an earlier one; the launcher keeps one of each.
#pragma once

#include "journal/spool/spool.hpp"

namespace mallard::recorder {

void list_modules(journal::spool_header* spool) noexcept;

}  // namespace mallard::recorder
