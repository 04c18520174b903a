// function: what is known of a function once it is parsed; closure: one with the variables it has captured.
#pragma once

#include <cstdint>
#include <string_view>

#include "programs/interpreter/value.hpp"

namespace mallard::programs {

struct node;

// A variable of a closure and the one around it that it begins as a copy of.
struct capture {
  std::uint32_t outer = 0;
  std::uint32_t inner = 0;
  capture* next = nullptr;
};

struct function {
  std::string_view name;
  std::uint32_t line = 0;
  std::uint32_t parameters = 0;
  std::uint32_t variables = 0;  // parameters first
  std::uint32_t capture_count = 0;
  capture* captures = nullptr;
  node* body = nullptr;  // null: called, and not defined so far
  function* next = nullptr;
};

// A variable: its value and the region where that lies, or another variable that it stands for.
struct variable {
  value held;
  region* home = nullptr;
  variable* other = nullptr;
};

[[nodiscard]] inline variable& resolved(variable& v) noexcept { return v.other == nullptr ? v : *v.other; }

struct closure {
  const function* code = nullptr;
  variable* captured = nullptr;  // in the order of code->captures
};

}  // namespace mallard::programs
