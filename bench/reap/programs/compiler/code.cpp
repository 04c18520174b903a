#include "programs/compiler/code.hpp"

#include "programs/memory/objects.hpp"

namespace mallard::programs {

code::~code() {
  if (!region::frees) return;
  while (first_ != nullptr) {
    instruction* const next = first_->next;
    drop(here_, first_);
    first_ = next;
  }
}

instruction& code::add(code_kind kind) {
  instruction* const made = make<instruction>(here_);
  made->kind = kind;
  *last_ = made;
  last_ = &made->next;
  ++size_;
  return *made;
}

}  // namespace mallard::programs
