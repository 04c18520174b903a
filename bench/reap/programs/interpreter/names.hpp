// names: which variable a name means, while one function is parsed.
//
//     names of the function around --> names   { a b { c } { d } }     a block's names end with it,
//                                              0 1   2     3           a variable's number is its own
//
// A name that only a function around knows is captured: it becomes a variable here, and a note of which one
// it begins as a copy of. Names live in a region of their own that ends when the function is parsed; notes
// in the program's.
#pragma once

#include <cstdint>
#include <string_view>

#include "programs/interpreter/function.hpp"
#include "programs/memory/region.hpp"

namespace mallard::programs {

class names {
 public:
  // `around` is null for the program itself and for functions with a name, which know only their own.
  names(region& program, function& f, names* around)
      : program_(program), here_(program), function_(f), around_(around) {}
  names(const names&) = delete;
  names& operator=(const names&) = delete;
  ~names();

  // A new variable of the innermost block.
  std::uint32_t add(std::string_view name);
  // A variable without a name.
  std::uint32_t add_hidden() noexcept { return function_.variables++; }
  [[nodiscard]] std::uint32_t variables() const noexcept { return function_.variables; }

  static constexpr std::uint32_t none = ~std::uint32_t{0};
  // The variable of that name, captured if need be; none if nobody knows it.
  [[nodiscard]] std::uint32_t find(std::string_view name);

  struct known {
    std::string_view name;
    std::uint32_t variable = 0;
    known* older = nullptr;
  };

  // What is known at a block's beginning, for its end.
  [[nodiscard]] known* begin_block() const noexcept { return newest_; }
  void end_block(known* before) noexcept;

 private:
  region& program_;
  region here_;
  function& function_;
  names* around_;
  known* newest_ = nullptr;
  known* captured_ = nullptr;
};

}  // namespace mallard::programs
