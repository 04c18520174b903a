// written: a value as the text that print and str make of it.
#pragma once

#include "programs/interpreter/text_value.hpp"
#include "programs/interpreter/value.hpp"
#include "programs/memory/region.hpp"

namespace mallard::programs {

// Strings as they are, in lists and dictionaries in quotes. One block of the right length.
[[nodiscard]] text* written(region& r, const value& v);

}  // namespace mallard::programs
