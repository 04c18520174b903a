#include "recorder/preload/region/scopes.hpp"

#include "recorder/preload/spool/name_table.hpp"
#include "recorder/preload/state/recorder_state.hpp"
#include "recorder/preload/thread/thread_state.hpp"

namespace mallard::recorder {
namespace {

constexpr std::uint64_t mix(std::uint64_t key, std::uint64_t value) noexcept {
  const std::uint64_t mixed = (key ^ value) * 0x9e3779b97f4a7c15u;
  return mixed ^ mixed >> 29;
}

void set_scope(std::uint32_t index, const open_scope& scope, std::uint64_t place) noexcept {
  const std::uint64_t key = mix(mix(self.scopes.key_of(index) + 1, scope.frame), place) | 1;
  self.scopes.chain[index] = {scope.frame, scope.begun, place, key};
}

}  // namespace

std::uint32_t begin_scope(const char* name, std::uintptr_t frame, std::uintptr_t begun) noexcept {
  if (current_spool() == nullptr && !begin_with_first_call()) return open_scopes::most;
  spool_header* spool = current_spool();  // another thread may end the session at any moment
  if (spool == nullptr) return open_scopes::most;
  open_scopes& scopes = self.scopes;
  std::uint32_t outer = scopes.open_at(frame);
  for (std::uint32_t i = outer; i != 0 && scopes.chain[i - 1].frame == frame; --i)
    if (scopes.chain[i - 1].begun == begun) outer = i - 1;
  scopes.count = outer;
  if (outer == open_scopes::most) return outer;
  set_scope(outer, {.frame = frame, .begun = begun, .place = 0, .key = 0}, place_of_name(spool, name));
  scopes.count = outer + 1;
  return outer;
}

void end_scope(std::uint32_t scope) noexcept {
  if (scope < self.scopes.count) self.scopes.count = scope;
}

void move_scopes(spool_header* from, spool_header* to) noexcept {
  for (std::uint32_t i = 0; i < self.scopes.count; ++i)
    set_scope(i, self.scopes.chain[i], move_name(from, self.scopes.chain[i].place, to));
}

}  // namespace mallard::recorder
