// function_name: what a function of the debug information is called.
//
//     linkage name                     _ZN3app5parseEi --> app::parse(int)
//     none: static, lambda, C          its own name, behind those of what it is declared in
//
// The same function has the same name wherever it is inlined. Remembers names, and the top level of the unit
// that it was asked about last; ask unit by unit.
#pragma once

#include <elfutils/libdw.h>

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace mallard::symbols {

// A name as its source has it.
//
//     _ZN3app5parseEi.constprop.0 --> app::parse(int)
//     strdup@@GLIBC_2.2.5         --> strdup
//
// What compilers append to copies of a function, and linkers to versions, is left out: the copies are one
// function to a reader. A name that is not mangled stays. Cost: the C++ runtime's demangler.
[[nodiscard]] std::string demangle(std::string_view name);

class function_name {
 public:
  // Of a subprogram, or of an inlined instance of one; empty: it has none. Valid as long as this object.
  [[nodiscard]] const std::string& of(Dwarf_Die function);

 private:
  static constexpr int most_nested = 16;  // functions declared inside functions

  [[nodiscard]] const std::string& of_declaration(Dwarf_Die& declaration, int nested);
  [[nodiscard]] std::string find(Dwarf_Die& declaration, int nested);
  [[nodiscard]] std::string enclosing(Dwarf_Die& declaration, int nested);
  [[nodiscard]] bool start_before(Dwarf_Die& inner, Dwarf_Die& start);

  std::unordered_map<const void*, std::string> known_;  // by declaration
  const void* unit_ = nullptr;
  std::vector<Dwarf_Die> top_level_;  // of unit_, by place
};

}  // namespace mallard::symbols
