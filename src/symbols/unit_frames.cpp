#include "symbols/unit_frames.hpp"

#include <dwarf.h>

#include <algorithm>
#include <string>
#include <vector>

namespace mallard::symbols {

unit_scopes::unit_scopes(Dwarf_Die unit, std::span<const std::uint64_t> addresses)
    : addresses_(addresses), innermost_(addresses.size(), none) {
  walk(unit, thoroughness::functions);
  // Compilers put functions with code at the top or into namespaces; the rest is searched where one is
  // missing.
  if (std::find(innermost_.begin(), innermost_.end(), none) != innermost_.end())
    walk(unit, thoroughness::everything);
}

void unit_scopes::walk(Dwarf_Die unit, thoroughness how) {
  enter(unit, none);
  while (!pending_.empty()) {
    const step at = pending_.back();
    pending_.pop_back();
    step next{{}, at.inside};
    Dwarf_Die die = at.die;
    if (dwarf_siblingof(&die, &next.die) == 0) pending_.push_back(next);
    visit(at, how);
  }
}

void unit_scopes::visit(step at, thoroughness how) {
  const auto none_covered = [&] {
    return visit_covered(at.die, addresses_, [](std::size_t) {}) == coverage::none;
  };
  switch (dwarf_tag(&at.die)) {
    case DW_TAG_subprogram:
    case DW_TAG_inlined_subroutine: {
      const auto number = static_cast<int>(scopes_.size());
      const auto found = visit_covered(at.die, addresses_, [&](std::size_t i) { innermost_[i] = number; });
      if (found == coverage::some) {
        scopes_.push_back({at.die, dwarf_tag(&at.die) == DW_TAG_subprogram ? none : at.inside});
        enter(at.die, number);
      } else if (how == thoroughness::everything) {
        enter(at.die, at.inside);
      }
      break;
    }
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_with_stmt:
      if (how == thoroughness::everything || !none_covered()) enter(at.die, at.inside);
      break;
    case DW_TAG_namespace:
    case DW_TAG_module:
      enter(at.die, at.inside);
      break;
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
      if (how == thoroughness::everything) enter(at.die, at.inside);
      break;
    default:
      break;
  }
}

void unit_scopes::enter(Dwarf_Die& die, int inside) {
  step first{{}, inside};
  if (dwarf_child(&die, &first.die) == 0) pending_.push_back(first);
}

namespace {

std::uint32_t number_of(Dwarf_Die& die, unsigned attribute) {
  Dwarf_Attribute found;
  Dwarf_Word value = 0;
  if (dwarf_attr(&die, attribute, &found) == nullptr || dwarf_formudata(&found, &value) != 0) return 0;
  return static_cast<std::uint32_t>(value);
}

}  // namespace

unit_frames::unit_frames(const compilation_unit& unit, std::span<const std::uint64_t> addresses,
                         function_name& names, text_table& texts)
    : unit_(unit), addresses_(addresses), scopes_(unit.functions, addresses), names_(&names), texts_(&texts) {
  std::size_t count = 0;
  if (dwarf_getsrcfiles(&unit_.functions, &files_, &count) != 0) files_ = nullptr;
}

std::vector<source_frame> unit_frames::of(std::size_t index) {
  std::vector<source_frame> frames;
  source_frame frame = line_of(addresses_[index]);
  int number = scopes_.innermost(index);
  if (number == unit_scopes::none && frame.file != 0) frames.push_back(frame);
  while (number != unit_scopes::none) {
    const unit_scopes::scope& scope = scopes_.at(number);
    frame.function = texts_->number(names_->of(scope.function));
    frames.push_back(frame);
    frame = call_of(scope.function);
    number = scope.caller;
  }
  return frames;
}

source_frame unit_frames::line_of(std::uint64_t address) {
  Dwarf_Line* line = dwarf_getsrc_die(&unit_.root, address);
  int number = 0;
  if (line == nullptr || dwarf_lineno(line, &number) != 0) return {};
  return {0, text(dwarf_linesrc(line, nullptr, nullptr)), static_cast<std::uint32_t>(number)};
}

source_frame unit_frames::call_of(Dwarf_Die inlined) {
  const std::uint32_t file = number_of(inlined, DW_AT_call_file);
  const char* path = files_ != nullptr ? dwarf_filesrc(files_, file, nullptr, nullptr) : nullptr;
  return {0, text(path), number_of(inlined, DW_AT_call_line)};
}

std::uint32_t unit_frames::text(const char* from) { return texts_->number(from != nullptr ? from : ""); }

}  // namespace mallard::symbols
