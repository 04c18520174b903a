#include "symbols/symbol_table.hpp"

#include <algorithm>
#include <tuple>

namespace mallard::symbols {
namespace {

// Symbols inside others come from assembly, and few deep.
constexpr int most_nested = 8;

bool is_function(const GElf_Sym& symbol) noexcept {
  const int type = GELF_ST_TYPE(symbol.st_info);
  return type == STT_FUNC || type == STT_GNU_IFUNC || (type == STT_NOTYPE && symbol.st_size != 0);
}

int rank_of(const GElf_Sym& symbol, std::string_view name) noexcept {
  const int binding = GELF_ST_BIND(symbol.st_info);
  const int privacy = binding == STB_GLOBAL ? 0 : binding == STB_WEAK ? 1 : 2;
  const auto underscores = std::min<std::size_t>(name.find_first_not_of('_'), 9);
  const bool is_cpp = name.starts_with("_Z");
  return privacy * 10 + (is_cpp ? 0 : static_cast<int>(underscores));
}

}  // namespace

bool symbol_table::before(const symbol& a, const symbol& b) noexcept {
  return std::tuple(a.begin, a.rank, a.name.size(), a.name) <
         std::tuple(b.begin, b.rank, b.name.size(), b.name);
}

symbol_table::symbol_table(const object_file& file) {
  const int count = dwfl_module_getsymtab(file.module());
  for (int index = 1; index < count; ++index) {
    GElf_Sym raw;
    GElf_Addr address = 0;
    GElf_Word section = SHN_UNDEF;
    const char* name =
        dwfl_module_getsym_info(file.module(), index, &raw, &address, &section, nullptr, nullptr);
    if (name == nullptr || *name == '\0' || section == SHN_UNDEF || !is_function(raw)) continue;
    symbols_.push_back({address, raw.st_size, rank_of(raw, name), name});
  }
  std::sort(symbols_.begin(), symbols_.end(), before);
  const auto same_place = [](const symbol& a, const symbol& b) { return a.begin == b.begin; };
  symbols_.erase(std::unique(symbols_.begin(), symbols_.end(), same_place), symbols_.end());
}

std::string_view symbol_table::find(std::uint64_t address) const noexcept {
  const auto is_behind = [](std::uint64_t value, const symbol& s) { return value < s.begin; };
  auto candidate = std::upper_bound(symbols_.begin(), symbols_.end(), address, is_behind);
  for (int nested = 0; nested < most_nested && candidate != symbols_.begin(); ++nested) {
    --candidate;
    const bool reaches_next = candidate->size == 0 && nested == 0;
    if (reaches_next || address - candidate->begin < candidate->size) return candidate->name;
  }
  return {};
}

}  // namespace mallard::symbols
