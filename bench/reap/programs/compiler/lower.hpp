// lower: from trees to three-address code.
//
//     if (a) b; else c;      branch_zero a, L1;  b;  jump L2;  L1: c;  L2:
//     x = a[i] + 1           x is a register: load t, [..]; binary x', t + 1; move x, x'
//
// Variables whose address nobody takes are registers, others have a place in the function's frame.
#pragma once

#include "programs/compiler/code.hpp"
#include "programs/compiler/parser.hpp"

namespace mallard::programs {

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
