// demangle: a name as its source has it.
//
//     _ZN3app5parseEi.constprop.0 --> app::parse(int)
//     strdup@@GLIBC_2.2.5         --> strdup
//
// What compilers append to copies of a function, and linkers to versions, is left out: the copies are one
// function to a reader. A name that is not mangled stays. Cost: the C++ runtime's demangler.
#pragma once

#include <string>
#include <string_view>

namespace mallard::symbols {

[[nodiscard]] std::string demangle(std::string_view name);

}  // namespace mallard::symbols
