#include "programs/compiler/declarations.hpp"

#include "programs/memory/region_kinds.hpp"

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

namespace {

std::uint32_t hash_of(std::string_view name) noexcept {
  std::uint32_t hash = 2166136261u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash ^ (hash >> 13);
}

}  // namespace

scope::~scope() {
  if (!region::frees) return;
  for (std::uint32_t i = 0; i < room_; ++i) {
    while (buckets_[i] != nullptr) {
      entry* const next = buckets_[i]->next;
      drop(here_, buckets_[i]);
      buckets_[i] = next;
    }
  }
  drop_array(here_, buckets_, room_);
}

scope::entry* scope::find_here(std::string_view name, std::uint32_t hash) const noexcept {
  if (room_ == 0) return nullptr;
  entry* e = buckets_[hash & (room_ - 1)];
  while (e != nullptr && (e->hash != hash || e->known->name != name)) e = e->next;
  return e;
}

bool scope::add(symbol* added) {
  const std::uint32_t hash = hash_of(added->name);
  if (find_here(added->name, hash) != nullptr) return false;
  if (count_ == room_) grow();
  entry*& first = buckets_[hash & (room_ - 1)];
  first = make<entry>(here_, entry{added, hash, first});
  ++count_;
  return true;
}

void scope::grow() {
  entry** const small = buckets_;
  const std::uint32_t smaller = room_;
  room_ = smaller == 0 ? 4 : 2 * smaller;
  buckets_ = make_array<entry*>(here_, room_);
  for (std::uint32_t i = 0; i < smaller; ++i) {
    while (entry* const moved = small[i]) {
      small[i] = moved->next;
      moved->next = buckets_[moved->hash & (room_ - 1)];
      buckets_[moved->hash & (room_ - 1)] = moved;
    }
  }
  drop_array(here_, small, smaller);
}

symbol* scope::find(std::string_view name) const noexcept {
  const std::uint32_t hash = hash_of(name);
  for (const scope* s = this; s != nullptr; s = s->outer_)
    if (const entry* const found = s->find_here(name, hash)) return found->known;
  return nullptr;
}

}  // namespace mallard::programs
