#include "symbols/function_name.hpp"

#include <cxxabi.h>
#include <dwarf.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string_view>

namespace mallard::symbols {
namespace {

// What compilers append, each followed by a number, by another of them or by nothing.
constexpr std::array<std::string_view, 7> suffixes = {".cold",       ".part", ".isra",    ".constprop",
                                                      ".localalias", ".llvm", ".lto_priv"};

std::string_view without_suffixes(std::string_view name) {
  name = name.substr(0, name.find('@'));
  for (const std::string_view suffix : suffixes) {
    const std::size_t at = name.find(suffix);
    if (at == std::string_view::npos || at == 0) continue;
    const std::size_t behind = at + suffix.size();
    if (behind == name.size() || name[behind] == '.') name = name.substr(0, at);
  }
  return name;
}

struct freed {
  void operator()(char* text) const noexcept { std::free(text); }
};

constexpr std::string_view unnamed = "{unnamed}::";

// From an instance to the definition it is of, and on to the first declaration, which stands where the
// source has it.
Dwarf_Die declaration_of(Dwarf_Die die) {
  constexpr int most_steps = 16;  // a chain is short; a broken file can hold a circle
  for (int step = 0; step < most_steps; ++step) {
    Dwarf_Attribute link;
    if (dwarf_attr(&die, DW_AT_abstract_origin, &link) == nullptr &&
        dwarf_attr(&die, DW_AT_specification, &link) == nullptr)
      break;
    Dwarf_Die target;
    if (dwarf_formref_die(&link, &target) == nullptr) break;
    die = target;
  }
  return die;
}

// Only where it is mangled and so says more than the plain name: libc's say how it refers to itself.
const char* linkage_name(Dwarf_Die& die) {
  for (const unsigned attribute : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
    Dwarf_Attribute found;
    if (dwarf_attr_integrate(&die, attribute, &found) == nullptr) continue;
    const char* name = dwarf_formstring(&found);
    return name != nullptr && std::string_view(name).starts_with("_Z") ? name : nullptr;
  }
  return nullptr;
}

bool has_namespaces(Dwarf_Die& die) {
  Dwarf_Die unit;
  if (dwarf_diecu(&die, &unit, nullptr, nullptr) == nullptr) return false;
  const int language = dwarf_srclang(&unit);
  return language != DW_LANG_C89 && language != DW_LANG_C && language != DW_LANG_C99 &&
         language != DW_LANG_C11 && language != DW_LANG_Mips_Assembler;
}

// What a declaration adds to the names of what is declared in it.
std::string part(Dwarf_Die& die) {
  const char* name = dwarf_diename(&die);
  switch (dwarf_tag(&die)) {
    case DW_TAG_namespace:
      return name != nullptr ? std::string(name) + "::" : "(anonymous namespace)::";
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
      return name != nullptr ? std::string(name) + "::" : std::string(unnamed);
    default:
      return {};
  }
}

}  // namespace

std::string demangle(std::string_view name) {
  std::string mangled(without_suffixes(name));
  if (!mangled.starts_with("_Z")) return mangled;
  int failed = 0;
  const std::unique_ptr<char, freed> plain(abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &failed));
  return failed == 0 && plain ? std::string(plain.get()) : mangled;
}

const std::string& function_name::of(Dwarf_Die function) {
  // The linkage name can stand at any of the steps, and is then the whole name.
  Dwarf_Die declaration = declaration_of(function);
  const auto found = known_.find(declaration.addr);
  if (found != known_.end()) return found->second;
  if (const char* name = linkage_name(function))
    return known_.emplace(declaration.addr, demangle(name)).first->second;
  return of_declaration(declaration, 0);
}

const std::string& function_name::of_declaration(Dwarf_Die& declaration, int nested) {
  const auto found = known_.find(declaration.addr);
  if (found != known_.end()) return found->second;
  return known_.emplace(declaration.addr, find(declaration, nested)).first->second;
}

std::string function_name::find(Dwarf_Die& declaration, int nested) {
  if (const char* name = linkage_name(declaration)) return demangle(name);
  const char* name = dwarf_diename(&declaration);
  if (name == nullptr) return {};
  if (!has_namespaces(declaration)) return name;
  std::string outer = enclosing(declaration, nested);
  // A lambda is a call of a class that has no name.
  if (name == std::string_view("operator()") && outer.ends_with(unnamed))
    outer.replace(outer.size() - unnamed.size(), unnamed.size(), "{lambda}::");
  return outer + name;
}

std::string function_name::enclosing(Dwarf_Die& declaration, int nested) {
  Dwarf_Die at;
  if (!start_before(declaration, at)) return {};
  const Dwarf_Off place = dwarf_dieoffset(&declaration);
  std::string names;
  while (dwarf_dieoffset(&at) < place) {
    if (dwarf_tag(&at) == DW_TAG_subprogram && nested < most_nested) {
      Dwarf_Die outer = declaration_of(at);
      names = (linkage_name(at) != nullptr ? demangle(linkage_name(at)) : of_declaration(outer, nested + 1)) +
              "::";
    } else {
      names += part(at);
    }
    Dwarf_Die next;
    if (dwarf_child(&at, &next) != 0) break;
    do at = next;
    while (dwarf_siblingof(&at, &next) == 0 && dwarf_dieoffset(&next) <= place);
  }
  return names;
}

// The child of the unit that holds `inner`, or is it.
bool function_name::start_before(Dwarf_Die& inner, Dwarf_Die& start) {
  if (unit_ != inner.cu) {
    unit_ = inner.cu;
    top_level_.clear();
    Dwarf_Die unit;
    Dwarf_Die child;
    if (dwarf_diecu(&inner, &unit, nullptr, nullptr) == nullptr || dwarf_child(&unit, &child) != 0)
      return false;
    Dwarf_Die next = child;
    do {
      child = next;
      top_level_.push_back(child);
    } while (dwarf_siblingof(&child, &next) == 0);
  }
  const auto is_behind = [](const void* place, const Dwarf_Die& die) {
    return std::less<>()(place, die.addr);
  };
  const auto behind =
      std::upper_bound(top_level_.begin(), top_level_.end(), static_cast<const void*>(inner.addr), is_behind);
  if (behind == top_level_.begin()) return false;
  start = *std::prev(behind);
  return true;
}

}  // namespace mallard::symbols
