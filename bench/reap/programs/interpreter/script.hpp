// script: all functions of a program, and the region that its tree lives in.
#pragma once

#include <string_view>

#include "programs/interpreter/function.hpp"
#include "programs/memory/region.hpp"

namespace mallard::programs {

class script {
 public:
  // Parses the whole text; a mistake ends the process with its line.
  script(region& around, std::string_view text);
  script(const script&) = delete;
  script& operator=(const script&) = delete;
  ~script();

  // What stands outside of functions.
  [[nodiscard]] const function& main() const noexcept { return *main_; }
  [[nodiscard]] region& memory() noexcept { return memory_; }

  // The function of that name; made, without a body, if it is not there.
  [[nodiscard]] function& named(std::string_view name, std::uint32_t line);
  // A function without a name.
  [[nodiscard]] function& add(std::string_view name, std::uint32_t line);

 private:
  region memory_;
  function* functions_ = nullptr;
  function* main_ = nullptr;
};

}  // namespace mallard::programs
