// What a user's flags check where nothing defines MALLARD_CHECKS; LEVEL is what is expected.
#include "mallard/core/check.hpp"

static_assert(MALLARD_CHECKS == LEVEL);
