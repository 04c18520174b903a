// scope: the names of one block, in a region of their own, inside the scope around it.
//
//     globals <-- parameters <-- block <-- inner block          the end of a block ends its region
//     [buckets] -> entry -> entry                               a name is looked for from inside out
//
// Symbols are not the scope's: they outlive it. Cost: a table of few buckets, doubled as names come.
// Seed 002, section 4.2 (nested regions).
#pragma once

#include <cstdint>
#include <string_view>

#include "programs/compiler/symbol.hpp"
#include "programs/memory/region.hpp"

namespace mallard::programs {

class scope {
 public:
  // `outer` is null for the globals, whose region is inside `around`.
  scope(region& around, const scope* outer) : here_(around), outer_(outer) {}
  explicit scope(scope& outer) : here_(outer.here_), outer_(&outer) {}
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;
  ~scope();

  // False if the block has that name already.
  bool add(symbol* added);
  // The innermost symbol of that name, or null.
  [[nodiscard]] symbol* find(std::string_view name) const noexcept;

 private:
  struct entry {
    symbol* known = nullptr;
    std::uint32_t hash = 0;
    entry* next = nullptr;
  };

  [[nodiscard]] entry* find_here(std::string_view name, std::uint32_t hash) const noexcept;
  void grow();

  region here_;
  const scope* outer_;
  entry** buckets_ = nullptr;
  std::uint32_t room_ = 0;
  std::uint32_t count_ = 0;
};

}  // namespace mallard::programs
