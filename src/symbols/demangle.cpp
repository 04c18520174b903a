#include "symbols/demangle.hpp"

#include <cxxabi.h>

#include <array>
#include <cstdlib>
#include <memory>

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

}  // namespace

std::string demangle(std::string_view name) {
  std::string mangled(without_suffixes(name));
  if (!mangled.starts_with("_Z")) return mangled;
  int failed = 0;
  const std::unique_ptr<char, freed> plain(abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &failed));
  return failed == 0 && plain ? std::string(plain.get()) : mangled;
}

}  // namespace mallard::symbols
