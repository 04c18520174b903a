// bind: the parts of mallard._native, a source file each. python/mallard/_native.pyi says what they hold.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <functional>

namespace mallard::native {

// How long native code works before Python may handle a signal and move a progress bar.
inline constexpr std::chrono::milliseconds time_slice{64};

// Handles what signals have come: Ctrl-C is an exception. Needs no lock.
inline void let_signals_through() {
  const nanobind::gil_scoped_acquire with_lock;
  if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
}

// What native code without the interpreter's lock calls now and then, so that Ctrl-C gets through, too.
// `progress` outlives it.
[[nodiscard]] inline std::function<void(double)> caller_of(const nanobind::object& progress) {
  return [&progress](double share) {
    const nanobind::gil_scoped_acquire with_lock;
    let_signals_through();
    if (!progress.is_none()) progress(share);
  };
}

void bind_groups(nanobind::module_& module);
void bind_exchange(nanobind::module_& module);
void bind_objects(nanobind::module_& module);
void bind_plans(nanobind::module_& module);
void bind_symbols(nanobind::module_& module);

}  // namespace mallard::native
