// symbol: a variable or a function, and what the passes learn of it.
#pragma once

#include <cstdint>
#include <string_view>

#include "programs/compiler/type.hpp"

namespace mallard::programs {

enum class storage : std::uint8_t { global, function, parameter, local };

struct symbol {
  std::string_view name;
  const type* is = nullptr;  // of functions: of their result
  storage where = storage::local;
  bool addressed = false;        // somebody takes its address: it cannot be a register
  std::uint32_t parameters = 0;  // of functions: how many
  std::uint32_t offset = 0;      // in the frame, of what is in memory
  std::uint32_t number = 0;      // the virtual register of what is not, once there is one
  symbol* next = nullptr;        // the one made before

  [[nodiscard]] bool is_register() const noexcept {
    return (where == storage::local || where == storage::parameter) && !addressed && is->is_scalar();
  }
};

}  // namespace mallard::programs
