// name_table: the texts that contexts refer to, each once in the spool.
//
//     "parser" --hash--> this thread's memory of 64 places --same text?--> place
//                                                          --no--> lock, search, append
//
// A name is known by its text, not by its address. What the memory holds is compared with the spool, so
// nothing in it can be outdated. Takes tens of ns for a name that this thread used lately; a search of all
// names for others.
#pragma once

#include <cstdint>

#include "journal/spool/spool.hpp"

namespace mallard::recorder {

inline constexpr std::uint32_t longest_name = 255;  // bytes that count

// The place of a context_entry for the scope of this name; 0 if there is no room for it.
[[nodiscard]] std::uint64_t place_of_name(journal::spool_header* spool, const char* name) noexcept;

// The same for the name at a place in another spool.
[[nodiscard]] std::uint64_t move_name(journal::spool_header* from, std::uint64_t place,
                                      journal::spool_header* to) noexcept;

}  // namespace mallard::recorder
