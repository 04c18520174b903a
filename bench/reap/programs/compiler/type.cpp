#include "programs/compiler/type.hpp"

#include "programs/memory/objects.hpp"

namespace mallard::programs {

types::~types() {
  while (all_ != nullptr) {
    type* const next = all_->next;
    while (all_->fields != nullptr) {
      field* const later = all_->fields->next;
      drop(permanent_, all_->fields);
      all_->fields = later;
    }
    drop(permanent_, all_);
    all_ = next;
  }
}

type* types::add(const type& made) {
  type* const added = make<type>(permanent_, made);
  added->next = all_;
  all_ = added;
  return added;
}

type* types::pointer_to(type* base) {
  if (base->pointer == nullptr) base->pointer = add({shape::pointer, 8, base, {}, nullptr, nullptr, nullptr});
  return base->pointer;
}

type* types::array_of(type* base, std::uint32_t count) {
  for (type* t = all_; t != nullptr; t = t->next)
    if (t->is == shape::array && t->base == base && t->size == base->size * count) return t;
  return add({shape::array, base->size * count, base, {}, nullptr, nullptr, nullptr});
}

type* types::structure(std::string_view name) {
  for (type* t = all_; t != nullptr; t = t->next)
    if (t->is == shape::structure && t->name == name) return t;
  return add({shape::structure, 0, nullptr, name, nullptr, nullptr, nullptr});
}

void types::add_field(type& structure, std::string_view name, const type* is) {
  field** last = &structure.fields;
  while (*last != nullptr) last = &(*last)->next;
  const std::uint32_t align = is->is == shape::character ? 1 : 8;
  const std::uint32_t offset = (structure.size + align - 1) / align * align;
  *last = make<field>(permanent_, field{name, is, offset, nullptr});
  structure.size = (offset + is->size + 7) / 8 * 8;
}

const field* field_of(const type& structure, std::string_view name) noexcept {
  for (const field* f = structure.fields; f != nullptr; f = f->next)
    if (f->name == name) return f;
  return nullptr;
}

}  // namespace mallard::programs
