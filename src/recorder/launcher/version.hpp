// The recorder's name and version, as it shows them and as a journal keeps them.
#pragma once

#include "mallard/core/version.hpp"

#define MALLARD_TEXT(x) #x
#define MALLARD_DOTTED(a, b, c) MALLARD_TEXT(a) "." MALLARD_TEXT(b) "." MALLARD_TEXT(c)

namespace mallard::recorder {

inline constexpr char recorder_version[] =
    "mallard-record " MALLARD_DOTTED(MALLARD_VERSION_MAJOR, MALLARD_VERSION_MINOR, MALLARD_VERSION_PATCH);

}  // namespace mallard::recorder

#undef MALLARD_DOTTED
#undef MALLARD_TEXT
