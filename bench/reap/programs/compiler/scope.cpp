#include "programs/compiler/scope.hpp"

#include "programs/memory/objects.hpp"

namespace mallard::programs {

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
