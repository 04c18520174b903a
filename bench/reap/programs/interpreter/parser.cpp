#include "programs/interpreter/parser.hpp"

#include "programs/memory/objects.hpp"
#include "programs/text/failure.hpp"

namespace mallard::programs {

node* parser::new_node(node_kind kind) {
  node* const made = make<node>(memory_);
  made->kind = kind;
  made->line = words_.now().line;
  return made;
}

void parser::parse_all(function& main) {
  names of_main(memory_, main, nullptr);
  names_ = &of_main;
  node** last = &main.body;
  while (words_.now().kind != token_kind::end) {
    if (words_.at("fn")) {
      named_function();
      continue;
    }
    *last = statement();
    last = &(*last)->next;
  }
  names_ = nullptr;
}

void parser::named_function() {
  words_.expect("fn");
  const std::uint32_t line = words_.now().line;
  function& f = script_.named(words_.expect_name(), line);
  if (f.body != nullptr) fail(line, "defined twice", f.name);
  parameters_and_body(f, nullptr);
}

void parser::parameters_and_body(function& f, names* around) {
  names inside(memory_, f, around);
  names* const outside = names_;
  names_ = &inside;
  words_.expect("(");
  while (!words_.at(")")) {
    inside.add(words_.expect_name());
    ++f.parameters;
    if (!words_.accept(",")) break;
  }
  words_.expect(")");
  f.body = block();
  if (f.body == nullptr) f.body = new_node(node_kind::give_back);
  names_ = outside;
}

node* parser::block() {
  names::known* const before = names_->begin_block();
  words_.expect("{");
  node* first = nullptr;
  node** last = &first;
  while (!words_.at("}")) {
    *last = statement();
    last = &(*last)->next;
  }
  words_.expect("}");
  names_->end_block(before);
  return first;
}

node* parser::statement() {
  if (words_.at("let")) return let_statement();
  if (words_.at("if")) return choice();
  if (words_.at("while")) return repetition();
  if (words_.at("for")) return for_statement();
  return simple_statement();
}

node* parser::let_statement() {
  node* const made = new_node(node_kind::let);
  words_.expect("let");
  const std::string_view name = words_.expect_name();
  words_.expect("=");
  made->b = expression();
  made->first = names_->add(name);
  words_.expect(";");
  return made;
}

node* parser::choice() {
  node* const made = new_node(node_kind::choose);
  words_.expect("if");
  made->a = expression();
  made->b = block();
  if (words_.accept("else")) made->c = words_.at("if") ? choice() : block();
  return made;
}

node* parser::repetition() {
  node* const made = new_node(node_kind::repeat);
  words_.expect("while");
  made->a = expression();
  made->first = names_->variables();
  made->b = block();
  made->count = names_->variables();
  return made;
}

node* parser::for_statement() {
  node* const made = new_node(node_kind::for_in);
  words_.expect("for");
  const std::string_view item = words_.expect_name();
  words_.expect("in");
  made->a = expression();
  if (words_.accept("..")) {
    made->kind = node_kind::for_range;
    made->c = expression();
  }
  made->first = names_->add_hidden();
  names::known* const before = names_->begin_block();
  names_->add(item);
  made->b = block();
  names_->end_block(before);
  made->count = names_->variables();
  return made;
}

node* parser::simple_statement() {
  node* const made = new_node(node_kind::evaluate);
  if (words_.accept("return")) {
    made->kind = node_kind::give_back;
    if (!words_.at(";")) made->b = expression();
  } else if (words_.accept("break")) {
    made->kind = node_kind::leave;
  } else if (words_.accept("continue")) {
    made->kind = node_kind::skip;
  } else {
    made->b = expression();
    if (words_.accept("=")) {
      made->kind = node_kind::assign;
      made->a = made->b;
      made->b = expression();
      if (made->a->kind != node_kind::variable && made->a->kind != node_kind::index)
        fail(made->line, "only variables and elements can be assigned to");
    }
  }
  words_.expect(";");
  return made;
}

}  // namespace mallard::programs
