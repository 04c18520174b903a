#include "programs/interpreter/script_tree.hpp"

#include "programs/interpreter/script_parser.hpp"
#include "programs/memory/region_kinds.hpp"
#include "programs/text/lexer.hpp"

namespace mallard::programs {

void drop_nodes(region& r, node* first) noexcept {
  while (first != nullptr) {
    node* const next = first->next;
    drop_nodes(r, first->a);
    drop_nodes(r, first->b);
    drop_nodes(r, first->c);
    drop(r, first->constant);
    drop(r, first);
    first = next;
  }
}

script::script(region& around, std::string_view text) : memory_(around) {
  main_ = &add("", 0);
  parser(*this, text).parse_all(*main_);
  for (const function* f = functions_; f != nullptr; f = f->next)
    if (f->body == nullptr && !f->name.empty()) fail(f->line, "no such function", f->name);
}

script::~script() {
  while (functions_ != nullptr) {
    function* const next = functions_->next;
    while (functions_->captures != nullptr) {
      capture* const later = functions_->captures->next;
      drop(memory_, functions_->captures);
      functions_->captures = later;
    }
    drop_nodes(memory_, functions_->body);
    drop(memory_, functions_);
    functions_ = next;
  }
}

function& script::add(std::string_view name, std::uint32_t line) {
  functions_ = make<function>(memory_, function{name, line, 0, 0, 0, nullptr, nullptr, functions_});
  return *functions_;
}

function& script::named(std::string_view name, std::uint32_t line) {
  for (function* f = functions_; f != nullptr; f = f->next)
    if (f->name == name) return *f;
  return add(name, line);
}

}  // namespace mallard::programs
