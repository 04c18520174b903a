// peephole: looks at two instructions at a time and takes out what does nothing, until nothing more goes.
//
//     mov r1, r1                          -> nothing
//     jmp L1; L1:                         -> L1:
//     ret r1; add ...                     -> ret r1       nobody comes there before the next label
//     sts [fp + 8], r8; lds r8, [fp + 8]  -> sts ...      and mov r9, r8 where the registers differ
#pragma once

#include "programs/compiler/machine.hpp"

namespace mallard::programs {

void simplify(machine_code& all) noexcept;

}  // namespace mallard::programs
