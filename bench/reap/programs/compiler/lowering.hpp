// lowering: from trees to three-address code, a list of instructions on as many numbered registers as it
// takes.
//
//     label L | jump L | branch_zero a, L | branch a, L | move t, a | binary t, a op b | load t, [a + k]
//     store [a + k], b | address t, symbol + k | argument a | call t, f | parameter t, n | give_back a
//
// Operands are registers or constants. The list lives in a region from lowering until its text is written.
//
//     if (a) b; else c;      branch_zero a, L1;  b;  jump L2;  L1: c;  L2:
//     x = a[i] + 1           x is a register: load t, [..]; binary x', t + 1; move x, x'
//
// Variables whose address nobody takes are registers, others have a place in the function's frame.
#pragma once

#include <cstdint>

#include "programs/compiler/c_parser.hpp"
#include "programs/compiler/syntax_tree.hpp"
#include "programs/memory/region_kinds.hpp"

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

class lowering {
 public:
  explicit lowering(code& out) : out_(out) {}

  void lower(const function& f);
  // Bytes that its variables in memory take.
  [[nodiscard]] std::uint32_t frame_size() const noexcept { return frame_; }

 private:
  void statements(const tree* first);
  void statement(const tree& t);
  void branch(const tree& t);
  void repeat(const tree& t);

  operand value(const tree& t);
  operand binary(operation op, operand a, operand b);
  operand load(const tree& t);
  operand store(const tree& t);
  operand call(const tree& t);
  operand choose(const tree& t);
  operand truth(const tree& t);
  // What is at an address: a register and a number of bytes behind it.
  operand place(const tree& address);

  void label(std::uint32_t l) { out_.add(code_kind::label).label = l; }
  void jump(std::uint32_t l) { out_.add(code_kind::jump).label = l; }
  void jump_if(code_kind kind, operand a, std::uint32_t l);
  void move(std::uint32_t target, operand a);

  code& out_;
  std::uint32_t frame_ = 0;
  std::uint32_t leave_ = 0;  // where break goes, 0 outside of loops
  std::uint32_t skip_ = 0;   // where continue goes
};

}  // namespace mallard::programs
