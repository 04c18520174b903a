#include "programs/interpreter/names.hpp"

#include "programs/memory/objects.hpp"

namespace mallard::programs {

names::~names() {
  end_block(nullptr);
  while (captured_ != nullptr) {
    known* const older = captured_->older;
    drop(here_, captured_);
    captured_ = older;
  }
}

std::uint32_t names::add(std::string_view name) {
  newest_ = make<known>(here_, known{name, function_.variables, newest_});
  return function_.variables++;
}

void names::end_block(known* before) noexcept {
  while (newest_ != before) {
    known* const older = newest_->older;
    drop(here_, newest_);
    newest_ = older;
  }
}

std::uint32_t names::find(std::string_view name) {
  for (const known* k = newest_; k != nullptr; k = k->older)
    if (k->name == name) return k->variable;
  for (const known* k = captured_; k != nullptr; k = k->older)
    if (k->name == name) return k->variable;
  const std::uint32_t outer = around_ == nullptr ? none : around_->find(name);
  if (outer == none) return none;
  const std::uint32_t inner = function_.variables++;
  captured_ = make<known>(here_, known{name, inner, captured_});
  function_.captures = make<capture>(program_, capture{outer, inner, function_.captures});
  ++function_.capture_count;
  return inner;
}

}  // namespace mallard::programs
