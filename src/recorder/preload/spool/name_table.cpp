#include "recorder/preload/spool/name_table.hpp"

#include <string.h>

#include "recorder/preload/spool/list_lock.hpp"

namespace mallard::recorder {
using namespace journal;

namespace {

struct text {
  const char* bytes;
  name_length length;
  std::uint64_t hash;
};

text make_text(const char* bytes, std::size_t longest) noexcept {
  text made{bytes, 0, 0xcbf29ce484222325u};
  for (; made.length < longest && bytes[made.length] != '\0'; ++made.length)
    made.hash = (made.hash ^ static_cast<unsigned char>(bytes[made.length])) * 0x100000001b3u;
  return made;
}

constexpr std::size_t entry_bytes(name_length length) noexcept {
  return sizeof(name_length) + ((length + 3u) & ~std::size_t{3});
}

name_length length_at(spool_header* spool, std::uint32_t at) noexcept {
  name_length length = 0;
  memcpy(&length, names_of(spool) + at, sizeof length);
  return length;
}

bool is_at(spool_header* spool, std::uint32_t at, std::uint32_t used, const text& name) noexcept {
  return at + entry_bytes(name.length) <= used && length_at(spool, at) == name.length &&
         memcmp(names_of(spool) + at + sizeof(name_length), name.bytes, name.length) == 0;
}

// Where the name stands by now; `name_bytes` if there is no room for it.
std::uint32_t find_or_add(spool_header* spool, const text& name) noexcept {
  const list_lock lock(spool);
  if (!lock.taken()) return name_bytes;
  const std::uint32_t used = spool->names_used.load(std::memory_order_relaxed);
  std::uint32_t at = 0;
  for (; at < used; at += static_cast<std::uint32_t>(entry_bytes(length_at(spool, at))))
    if (is_at(spool, at, used, name)) return at;
  const std::size_t end = used + entry_bytes(name.length);
  if (at != used || end > name_bytes) return name_bytes;
  memcpy(names_of(spool) + at, &name.length, sizeof name.length);
  memcpy(names_of(spool) + at + sizeof name.length, name.bytes, name.length);
  spool->names_used.store(static_cast<std::uint32_t>(end), std::memory_order_release);
  return at;
}

constexpr std::size_t remembered = 64;
thread_local constinit std::uint32_t places[remembered]{};

std::uint64_t place_of(spool_header* spool, const text& name) noexcept {
  std::uint32_t& place = places[(name.hash ^ name.hash >> 32) % remembered];
  if (!is_at(spool, place, spool->names_used.load(std::memory_order_acquire), name)) {
    const std::uint32_t found = find_or_add(spool, name);
    if (found == name_bytes) return 0;
    place = found;
  }
  return scope_bit | place;
}

}  // namespace

std::uint64_t place_of_name(spool_header* spool, const char* name) noexcept {
  return place_of(spool, make_text(name == nullptr ? "" : name, longest_name));
}

std::uint64_t move_name(spool_header* from, std::uint64_t place, spool_header* to) noexcept {
  if (place == 0) return 0;
  const auto at = static_cast<std::uint32_t>(place & ~scope_bit);
  return place_of(to, make_text(names_of(from) + at + sizeof(name_length), length_at(from, at)));
}

}  // namespace mallard::recorder
