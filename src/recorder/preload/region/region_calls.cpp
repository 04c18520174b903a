#include "recorder/preload/region/region_calls.hpp"

namespace mallard::recorder {

thread_local constinit std::uint32_t region_calls = 0;

}  // namespace mallard::recorder
