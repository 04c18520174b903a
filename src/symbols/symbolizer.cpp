#include "symbols/symbolizer.hpp"

#include <dwarf.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "symbols/function_name.hpp"
#include "symbols/object_file.hpp"
#include "symbols/unit_frames.hpp"

namespace mallard::symbols {
namespace {

std::string hexadecimal_number(std::uint64_t number) {
  std::array<char, 2 + 16> text{'0', 'x'};
  char* const end = std::to_chars(text.data() + 2, text.data() + text.size(), number, 16).ptr;
  return {text.data(), end};
}

// The unit's own DIE, and the one that holds its functions; false if it is none with code of its own.
bool is_code(std::uint8_t type, const Dwarf_Die& root, const Dwarf_Die& split, compilation_unit& out) {
  if (type != DW_UT_compile && type != DW_UT_skeleton) return false;
  out.root = root;
  out.functions = type == DW_UT_skeleton && split.addr != nullptr ? split : root;
  return true;
}

}  // namespace

struct symbolizer::state {
  state(const std::filesystem::path& path, std::optional<std::string_view> build_id)
      : file(path, build_id), debug(file.debug()), symbols(file), functions(file) {}

  object_file file;
  debug_information debug;
  symbol_table symbols;
  function_table functions;
  function_name names;
};

// One call of resolve.
class symbolizer::request {
 public:
  request(state& of, std::span<const std::uint64_t> addresses) : of_(&of) {
    for (const std::uint64_t address : addresses) places_.push_back(place_of(address));
    std::sort(places_.begin(), places_.end());
    places_.erase(std::unique(places_.begin(), places_.end()), places_.end());
    answers_.resize(places_.size());
  }

  resolved answer(std::span<const std::uint64_t> addresses) {
    if (of_->debug.dwarf != nullptr) ask_units();
    for (std::size_t index = 0; index < places_.size(); ++index) ask_symbols(index);
    resolved all;
    all.begins.push_back(0);
    for (const std::uint64_t address : addresses) {
      const auto at = std::lower_bound(places_.begin(), places_.end(), place_of(address));
      const auto& frames = answers_[static_cast<std::size_t>(at - places_.begin())];
      all.frames.insert(all.frames.end(), frames.begin(), frames.end());
      all.begins.push_back(static_cast<std::uint32_t>(all.frames.size()));
    }
    all.texts = texts_.take();
    return all;
  }

 private:
  // The address as the debug information has it.
  [[nodiscard]] std::uint64_t place_of(std::uint64_t address) const { return address - of_->debug.bias; }

  void ask_units() {
    Dwarf_CU* unit = nullptr;
    std::uint8_t type = 0;
    Dwarf_Die root;
    Dwarf_Die split;
    compilation_unit code;
    while (dwarf_get_units(of_->debug.dwarf, unit, &unit, nullptr, &type, &root, &split) == 0)
      if (is_code(type, root, split, code)) ask_unit(code);
  }

  void ask_unit(compilation_unit& unit) {
    std::vector<std::size_t> indexes;
    visit_covered(unit.root, places_, [&](std::size_t index) {
      if (answers_[index].empty()) indexes.push_back(index);
    });
    if (indexes.empty()) return;
    std::sort(indexes.begin(), indexes.end());
    indexes.erase(std::unique(indexes.begin(), indexes.end()), indexes.end());
    std::vector<std::uint64_t> addresses;
    addresses.reserve(indexes.size());
    for (const std::size_t index : indexes) addresses.push_back(places_[index]);
    unit_frames frames(unit, addresses, of_->names, texts_);
    for (std::size_t i = 0; i < indexes.size(); ++i) answers_[indexes[i]] = frames.of(i);
  }

  // Gives the outermost frame a name, if it has none.
  void ask_symbols(std::size_t index) {
    auto& frames = answers_[index];
    if (!frames.empty() && frames.back().function != 0) return;
    const std::uint32_t name = symbol_at(places_[index] + of_->debug.bias);
    if (name == 0) return;
    if (frames.empty()) frames.emplace_back();
    frames.back().function = name;
  }

  // Addresses come in order, so that those of one function follow each other.
  std::uint32_t symbol_at(std::uint64_t address) {
    if (!of_->functions.is_code(address)) return 0;
    const std::string_view symbol = of_->symbols.find(address);
    if (symbol.empty()) {
      const auto begin = of_->functions.find(address);
      return begin ? texts_.number(hexadecimal_number(*begin)) : 0;
    }
    if (symbol.data() != last_symbol_) {
      last_symbol_ = symbol.data();
      last_name_ = texts_.number(demangle(symbol));
    }
    return last_name_;
  }

  state* of_;
  std::vector<std::uint64_t> places_;               // sorted, each once
  std::vector<std::vector<source_frame>> answers_;  // of each place
  text_table texts_;
  const char* last_symbol_ = nullptr;
  std::uint32_t last_name_ = 0;
};

symbolizer::symbolizer(const std::filesystem::path& path, std::optional<std::string_view> build_id)
    : state_(std::make_unique<state>(path, build_id)) {}

symbolizer::~symbolizer() = default;

resolved symbolizer::resolve(std::span<const std::uint64_t> addresses) {
  return request(*state_, addresses).answer(addresses);
}

}  // namespace mallard::symbols
