#include "programs/interpreter/script_parser.hpp"

#include <array>

#include "programs/interpreter/operations.hpp"
#include "programs/interpreter/values.hpp"
#include "programs/memory/region_kinds.hpp"
#include "programs/text/lexer.hpp"

namespace mallard::programs {

namespace {

struct infix {
  std::string_view sign;
  int level;
  node_kind kind;
  operation op;
};

// From the loosest to the tightest; all associate to the left.
constexpr std::array<infix, 13> infixes = {{{"||", 0, node_kind::either, operation::add},
                                            {"&&", 1, node_kind::both, operation::add},
                                            {"==", 2, node_kind::binary, operation::equal},
                                            {"!=", 2, node_kind::binary, operation::unequal},
                                            {"<", 3, node_kind::binary, operation::less},
                                            {"<=", 3, node_kind::binary, operation::at_most},
                                            {">", 3, node_kind::binary, operation::more},
                                            {">=", 3, node_kind::binary, operation::at_least},
                                            {"+", 4, node_kind::binary, operation::add},
                                            {"-", 4, node_kind::binary, operation::subtract},
                                            {"*", 5, node_kind::binary, operation::multiply},
                                            {"/", 5, node_kind::binary, operation::divide},
                                            {"%", 5, node_kind::binary, operation::remainder}}};
constexpr int tightest = 5;

const infix* infix_at(const token& word, int level) {
  if (word.kind != token_kind::sign) return nullptr;
  for (const infix& i : infixes)
    if (i.level == level && i.sign == word.text) return &i;
  return nullptr;
}

// The character that stands behind a backslash.
char escaped(char c) {
  if (c == 'n') return '\n';
  if (c == 't') return '\t';
  return c;
}

}  // namespace

node* parser::binary(int level) {
  if (level > tightest) return unary();
  node* left = binary(level + 1);
  while (const infix* const found = infix_at(words_.now(), level)) {
    node* const made = new_node(found->kind);
    words_.take();
    made->op = found->op;
    made->a = left;
    made->b = binary(level + 1);
    made->calls = made->a->calls || made->b->calls;
    left = made;
  }
  return left;
}

node* parser::unary() {
  if (!words_.at("-") && !words_.at("!")) return postfix();
  node* const made = new_node(words_.at("-") ? node_kind::negate : node_kind::invert);
  words_.take();
  made->a = unary();
  made->calls = made->a->calls;
  return made;
}

node* parser::postfix() {
  node* made = primary();
  for (;;) {
    const std::uint32_t line = words_.now().line;
    if (words_.accept("[")) {
      node* const base = made;
      made = new_node(node_kind::index);
      made->a = base;
      made->b = expression();
      made->calls = made->a->calls || made->b->calls;
      words_.expect("]");
    } else if (words_.accept("(")) {
      made = call_of(made, nullptr, line);
    } else {
      return made;
    }
  }
}

node* parser::call_of(node* callee, function* called, std::uint32_t line) {
  node* const made = new_node(node_kind::call);
  made->line = line;
  made->a = callee;
  made->called = called;
  made->b = arguments(*made, ")");
  made->calls = true;
  return made;
}

node* parser::arguments(node& of, std::string_view closing) {
  node* first = nullptr;
  node** last = &first;
  while (!words_.at(closing)) {
    *last = expression();
    of.calls = of.calls || (*last)->calls;
    ++of.count;
    last = &(*last)->next;
    if (!words_.accept(",")) break;
  }
  words_.expect(closing);
  return first;
}

node* parser::primary() {
  if (words_.accept("(")) {
    node* const inside = expression();
    words_.expect(")");
    return inside;
  }
  if (words_.now().kind == token_kind::string) return string_constant();
  if (words_.at("[")) return list_literal();
  if (words_.at("{")) return dictionary_literal();
  if (words_.at("fn")) return closure();
  node* const made = new_node(node_kind::constant);
  if (words_.now().kind == token_kind::integer) {
    made->constant = of_integer(words_.take().integer);
  } else if (words_.at("true") || words_.at("false")) {
    made->constant = of_boolean(words_.take().is("true"));
  } else if (!words_.accept("nil")) {
    drop(memory_, made);
    return name_or_call();
  }
  return made;
}

node* parser::name_or_call() {
  const std::uint32_t line = words_.now().line;
  const std::string_view name = words_.expect_name();
  const std::uint32_t variable = names_->find(name);
  if (variable != names::none) {
    node* const made = new_node(node_kind::variable);
    made->line = line;
    made->first = variable;
    return made;
  }
  if (!words_.accept("(")) fail(line, "no such variable", name);
  const std::uint32_t builtin = builtin_of(name);
  if (builtin == no_builtin) return call_of(nullptr, &script_.named(name, line), line);
  node* const made = new_node(node_kind::builtin);
  made->line = line;
  made->first = builtin;
  made->b = arguments(*made, ")");
  made->calls = made->calls || changes_its_first(builtin);
  if (made->count != arguments_of(builtin)) fail(line, "wrong number of arguments", name);
  return made;
}

node* parser::string_constant() {
  node* const made = new_node(node_kind::constant);
  const std::string_view written = words_.take().text;
  std::size_t length = 0;
  for (std::size_t i = 0; i < written.size(); ++i, ++length)
    i += static_cast<std::size_t>(written[i] == '\\');
  text* const read = make_text(memory_, length);
  char* out = read->characters();
  for (std::size_t i = 0; i < written.size(); ++i)
    *out++ = written[i] == '\\' ? escaped(written[++i]) : written[i];
  made->constant = own_text(read);
  return made;
}

node* parser::list_literal() {
  node* const made = new_node(node_kind::list);
  words_.expect("[");
  made->a = arguments(*made, "]");
  return made;
}

node* parser::dictionary_literal() {
  node* const made = new_node(node_kind::dictionary);
  words_.expect("{");
  node** last = &made->a;
  while (!words_.at("}")) {
    *last = expression();
    words_.expect(":");
    (*last)->next = expression();
    made->calls = made->calls || (*last)->calls || (*last)->next->calls;
    last = &(*last)->next->next;
    ++made->count;
    if (!words_.accept(",")) break;
  }
  words_.expect("}");
  return made;
}

node* parser::closure() {
  node* const made = new_node(node_kind::closure);
  words_.expect("fn");
  made->called = &script_.add("", made->line);
  parameters_and_body(*made->called, names_);
  return made;
}

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
