#include "programs/compiler/parser.hpp"

#include "programs/memory/objects.hpp"
#include "programs/text/failure.hpp"

namespace mallard::programs {

parser::parser(region& permanent, std::string_view text)
    : permanent_(permanent),
      words_(text),
      types_(permanent),
      outermost_(permanent, nullptr),
      names_(&outermost_) {}

parser::~parser() {
  while (globals_ != nullptr) {
    symbol* const next = globals_->next;
    drop(permanent_, globals_);
    globals_ = next;
  }
}

symbol* parser::new_symbol(region& r, std::string_view name, const type* is, storage where) {
  symbol* const made = make<symbol>(r);
  made->name = name;
  made->is = is;
  made->where = where;
  if (!names_->add(made)) fail(words_.now().line, "declared twice", name);
  symbol*& last = where == storage::global || where == storage::function ? globals_ : function_->symbols;
  made->next = last;
  last = made;
  return made;
}

bool parser::at_type() const {
  return words_.at("int") || words_.at("char") || words_.at("void") || words_.at("struct");
}

type* parser::begin_of_type() {
  type* found = types_.integer();
  if (words_.accept("struct"))
    found = types_.structure(words_.expect_name());
  else if (words_.accept("char"))
    found = types_.character();
  else if (words_.accept("void"))
    found = types_.nothing();
  else
    words_.expect("int");
  while (words_.accept("*")) found = types_.pointer_to(found);
  return found;
}

// What stands behind the name of a variable.
type* parser::end_of_type(type* base) {
  if (!words_.accept("[")) return base;
  const token count = words_.take();
  if (count.kind != token_kind::integer) fail(count.line, "an array needs a size");
  words_.expect("]");
  return types_.array_of(base, static_cast<std::uint32_t>(count.integer));
}

// What stands behind the bracket.
void parser::fields_of(type& structure) {
  while (!words_.accept("}")) {
    type* const base = begin_of_type();
    const std::string_view name = words_.expect_name();
    types_.add_field(structure, name, end_of_type(base));
    words_.expect(";");
  }
  words_.expect(";");
}

void parser::parameters(function& f, scope& names) {
  names_ = &names;
  std::uint32_t count = 0;
  while (!words_.at(")")) {
    type* const is = begin_of_type();
    const token& name = words_.now();
    if (!is->is_scalar()) fail(name.line, "only numbers and pointers are passed", name.text);
    new_symbol(*symbols_, words_.expect_name(), is, storage::parameter)->parameters = count++;
    if (!words_.accept(",")) break;
  }
  words_.expect(")");
  f.name->parameters = count;
}

bool parser::next_function(function& f, region& symbols, region& trees) {
  function_ = &f;
  symbols_ = &symbols;
  trees_ = &trees;
  while (words_.now().kind != token_kind::end) {
    type* const is = begin_of_type();
    if (is->is == shape::structure && words_.accept("{")) {
      fields_of(*is);
      continue;
    }
    const std::string_view name = words_.expect_name();
    if (!words_.accept("(")) {
      new_symbol(permanent_, name, end_of_type(is), storage::global);
      words_.expect(";");
      continue;
    }
    f.name = new_symbol(permanent_, name, is, storage::function);
    scope names(outermost_);
    parameters(f, names);
    f.body = block();
    names_ = &outermost_;
    return true;
  }
  return false;
}

}  // namespace mallard::programs
