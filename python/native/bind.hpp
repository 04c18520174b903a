// bind: the parts of mallard._native, a source file each, and vectors and texts as Python sees them.
// python/mallard/_native.pyi says what they hold.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

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

// Hands the vector to numpy without a copy. The array owns it from then on.
template <class T>
[[nodiscard]] nanobind::object to_column(std::vector<T> values) {
  auto owned = std::make_unique<std::vector<T>>(std::move(values));
  T* const data = owned->data();
  const std::size_t rows = owned->size();
  const nanobind::capsule owner(owned.get(),
                                [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  owned.release();
  return nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<1>>(data, {rows}, owner).cast();
}

// One column of rows: to_column of the member that `of` takes from each.
template <class Row, class Of>
[[nodiscard]] nanobind::object column_of(const std::vector<Row>& rows, Of of) {
  std::vector<decltype(of(rows.front()))> values;
  values.reserve(rows.size());
  for (const Row& row : rows) values.push_back(of(row));
  return to_column(std::move(values));
}

// Bytes of a journal or a program file as a Python str.
//
//     "caf\xe9"   text()       "caf\ufffd"    to be shown: can be written anywhere
//                 file_name()  "caf\udce9"    to be opened: os.fsencode() has the bytes again
//
// A file name is for the system; what shows one makes a text of it first (mallard.figures.shown).
//
// What is no UTF-8 is U+FFFD.
[[nodiscard]] inline nanobind::object text(const std::string& bytes) {
  const auto size = static_cast<Py_ssize_t>(bytes.size());
  return nanobind::steal(PyUnicode_DecodeUTF8(bytes.data(), size, "replace"));
}

[[nodiscard]] inline nanobind::object file_name(const std::string& bytes) {
  const auto size = static_cast<Py_ssize_t>(bytes.size());
  return nanobind::steal(PyUnicode_DecodeFSDefaultAndSize(bytes.data(), size));
}

void bind_groups(nanobind::module_& module);
void bind_exchange(nanobind::module_& module);
void bind_objects(nanobind::module_& module);
void bind_plans(nanobind::module_& module);
void bind_symbols(nanobind::module_& module);

}  // namespace mallard::native
