// The program's modules, written into the spool: what a return address will be looked up in.
//
//     at the beginning     all that are loaded
//     see_module           the one that a return address lies in, when the address is new
//     dlclose              before: those not seen yet; after: which of those seen are gone
//     at exit              those not seen yet
//
// The process lists them itself, because a short program may be gone before anybody could read its map, and a
// module's place may be another one's a moment later. Known modules are kept here by their places; a forked
// process inherits that. see_module() takes a lock only for a new module, and never one of the loader's.
#pragma once

#include <cstdint>

#include "journal/spool/spool.hpp"

namespace mallard::recorder {

// Lists those that are loaded and not known yet. Asks the loader, which takes its lock.
void list_modules(journal::spool_header* spool) noexcept;

// Lists those that the process inherited, in a spool of its own. Takes no lock.
void list_inherited_modules(journal::spool_header* spool) noexcept;

// Lists the one at `address`, if it is not known yet. Safe in a signal handler.
void see_module(journal::spool_header* spool, std::uintptr_t address) noexcept;

// Lists that those are gone which are known and not loaded any more.
void forget_gone_modules(journal::spool_header* spool) noexcept;

}  // namespace mallard::recorder
