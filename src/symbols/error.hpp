// error: why a file cannot name its addresses. One line for the user, without the file's path.
#pragma once

#include <stdexcept>

namespace mallard::symbols {

struct error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace mallard::symbols
