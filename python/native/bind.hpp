// bind: the parts of mallard._native, a source file each. python/mallard/_native.pyi says what they hold.
#pragma once

#include <nanobind/nanobind.h>

namespace mallard::native {

void bind_census(nanobind::module_& module);
void bind_exchange(nanobind::module_& module);
void bind_objects(nanobind::module_& module);
void bind_symbols(nanobind::module_& module);

}  // namespace mallard::native
