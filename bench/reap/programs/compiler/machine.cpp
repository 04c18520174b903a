#include "programs/compiler/machine.hpp"

#include "programs/memory/objects.hpp"

namespace mallard::programs {

machine_code::~machine_code() {
  if (!region::frees) return;
  while (first_ != nullptr) remove(first_);
}

machine_step& machine_code::add(machine_kind kind) {
  machine_step* const made = make<machine_step>(here_);
  made->kind = kind;
  (last_ == nullptr ? first_ : last_->next) = made;
  last_ = made;
  return *made;
}

void machine_code::remove(machine_step*& link) noexcept {
  machine_step* const gone = link;
  link = gone->next;
  drop(here_, gone);
}

}  // namespace mallard::programs
