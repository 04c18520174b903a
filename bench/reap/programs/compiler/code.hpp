// code: a function as a list of three-address instructions on numbered registers, as many as it takes.
//
//     label L | jump L | branch_zero a, L | branch a, L | move t, a | binary t, a op b | load t, [a + k]
//     store [a + k], b | address t, symbol + k | argument a | call t, f | parameter t, n | give_back a
//
// Operands are registers or constants. The list lives in a region from lowering until its text is written.
#pragma once

#include <cstdint>

#include "programs/compiler/tree.hpp"
#include "programs/memory/region.hpp"

namespace mallard::programs {

enum class code_kind : std::uint8_t {
  label,
  jump,
  branch_zero,
  branch,
  move,
  binary,
  load,
  store,
  address,
  argument,
  call,
  parameter,
  give_back,
};

// Register 0 is none: the constant.
struct operand {
  std::uint32_t number = 0;
  std::int64_t integer = 0;
};

struct instruction {
  code_kind kind = code_kind::label;
  operation op = operation::add;
  std::uint8_t width = 8;  // of loads and stores, in bytes
  std::uint32_t target = 0;
  std::uint32_t label = 0;
  operand a;
  operand b;
  const symbol* of = nullptr;
  instruction* next = nullptr;
};

class code {
 public:
  explicit code(region& around) : here_(around) {}
  code(const code&) = delete;
  code& operator=(const code&) = delete;
  ~code();

  instruction& add(code_kind kind);
  [[nodiscard]] std::uint32_t new_register() noexcept { return ++registers_; }
  [[nodiscard]] std::uint32_t new_label() noexcept { return ++labels_; }

  [[nodiscard]] const instruction* first() const noexcept { return first_; }
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  // Registers are 1 to this, labels likewise.
  [[nodiscard]] std::uint32_t registers() const noexcept { return registers_; }
  [[nodiscard]] std::uint32_t labels() const noexcept { return labels_; }

 private:
  region here_;
  instruction* first_ = nullptr;
  instruction** last_ = &first_;
  std::uint32_t size_ = 0;
  std::uint32_t registers_ = 0;
  std::uint32_t labels_ = 0;
};

}  // namespace mallard::programs
