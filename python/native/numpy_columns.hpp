// columns: vectors handed to numpy without a copy. The array owns the vector from then on.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace mallard::native {

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

}  // namespace mallard::native
