// compile: all passes over all functions, and the regions that they open and end.
//
//     permanent    types, globals                         until the end
//       scopes     names of a block                       end with their block, while parsing
//     symbols      of one function                        cleared after each function
//       code       three-address instructions             ends once the function's text is written
//       machine    instructions of the machine            ends once they are written
//       liveness   intervals and sets of registers        ends once instructions are selected
//     trees        of one function                        cleared once it is lowered
//
// Seed 002, section 4.2 (region): lcc's areas for what is permanent, of a function, and of a statement.
#pragma once

#include <string_view>

#include "programs/memory/region.hpp"

namespace mallard::programs {

void compile(region& all, std::string_view text);

}  // namespace mallard::programs
