// stretch: how long native code works before Python may look at the keyboard and move a progress bar.
#pragma once

#include <chrono>

namespace mallard::native {

inline constexpr std::chrono::milliseconds stretch{64};

}  // namespace mallard::native
