// spool_lists: what all threads of a program write into the same part of its spool, under one lock: its
// modules, in which return addresses will be looked up, and the names that contexts refer to.
//
//     at the beginning     all modules that are loaded
//     see_module           the one that a return address lies in, when the address is new
//     dlclose              before: those not seen yet; after: which of those seen are gone
//     at exit              those not seen yet
//
// The process lists them itself, because a short program may be gone before anybody could read its map, and
// another module may be in a module's place a moment later. Known modules are kept here by their places; a
// forked process inherits that. see_module() takes the lock only for a new module, and never one of the
// loader's.
//
//     "parser" --hash--> this thread's memory of 64 places --same text?--> place of the name
//                                                          --no--> lock, search, append
//
// A name stands in the spool once. It is known by its text, not by its address. What the memory holds is
// compared with the spool, so nothing in it can be outdated. Takes tens of ns for a name that this thread
// used recently; a search of all names for others.
#pragma once

#include <cstdint>

#include "journal/spool/spool.hpp"

namespace mallard::recorder {

// Lists the modules that are loaded and not known yet. Asks the loader, which takes its lock.
void list_modules(journal::spool_header* spool) noexcept;

// Lists those that the process inherited, in a spool of its own. Takes no lock.
void list_inherited_modules(journal::spool_header* spool) noexcept;

// Lists the one at `address`, if it is not known yet. Safe in a signal handler.
void see_module(journal::spool_header* spool, std::uintptr_t address) noexcept;

// Lists that those are gone which are known and not loaded any more.
void forget_gone_modules(journal::spool_header* spool) noexcept;

inline constexpr std::uint32_t longest_name = 255;  // bytes of a name that count

// The place of a context_entry for the scope of this name; 0 if there is no room for it.
[[nodiscard]] std::uint64_t place_of_name(journal::spool_header* spool, const char* name) noexcept;

// The same for the name at a place in another spool.
[[nodiscard]] std::uint64_t move_name(journal::spool_header* from, std::uint64_t place,
                                      journal::spool_header* to) noexcept;

}  // namespace mallard::recorder
