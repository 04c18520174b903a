// The objects of a journal, as columns.
#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <vector>

#include "native/bind.hpp"
#include "profile/size_class.hpp"

namespace nb = nanobind;
namespace profile = mallard::profile;

namespace mallard::native {

void bind_objects(nb::module_& module) {
  module.def("largest_of_size_classes", [] {
    std::vector<std::uint64_t> largest(profile::size_classes);
    for (unsigned number = 0; number < profile::size_classes; ++number)
      largest[number] = profile::largest_of_class(number);
    return largest;
  });
}

}  // namespace mallard::native
