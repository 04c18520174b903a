// bind: the parts of mallard._native, a source file each. python/mallard/_native.pyi says what they hold.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>

namespace mallard::native {

// How long native code works before Python may handle a signal and move a progress bar.
inline constexpr std::chrono::milliseconds time_slice{64};

void bind_groups(nanobind::module_& module);
void bind_exchange(nanobind::module_& module);
void bind_objects(nanobind::module_& module);
void bind_symbols(nanobind::module_& module);

}  // namespace mallard::native
