// text: bytes of a journal or a program file as a Python str.
//
//     "caf\xe9"   text()       "caf\ufffd"    to be shown: can be written anywhere
//                 file_name()  "caf\udce9"    to be opened: os.fsencode() has the bytes again
//
// A file name is for the system; what shows one makes a text of it first (mallard.names.shown).
#pragma once

#include <nanobind/nanobind.h>

#include <string>

namespace mallard::native {

// What is no UTF-8 is U+FFFD.
[[nodiscard]] inline nanobind::object text(const std::string& bytes) {
  const auto size = static_cast<Py_ssize_t>(bytes.size());
  return nanobind::steal(PyUnicode_DecodeUTF8(bytes.data(), size, "replace"));
}

[[nodiscard]] inline nanobind::object file_name(const std::string& bytes) {
  const auto size = static_cast<Py_ssize_t>(bytes.size());
  return nanobind::steal(PyUnicode_DecodeFSDefaultAndSize(bytes.data(), size));
}

}  // namespace mallard::native
