// annotations: what mallard/annotate.h finds and calls in a recorded program: events of its regions, and the
// scopes of this thread.
//
// Beginning a scope ends those whose function must have returned, since their frames lie below the new one's,
// and one that was begun at the same place before: its function was left and called again. Ending a scope
// ends those that began inside it. Beginning costs reading the name once and a probe of the name table;
// ending a few instructions.
#include "mallard/annotate.h"
#include "recorder/preload/region/region_calls.hpp"
#include "recorder/preload/spool/spool_lists.hpp"
#include "recorder/preload/state/recorder_state.hpp"
#include "recorder/preload/thread/thread_state.hpp"

namespace mallard::recorder {
namespace {

void region_create(const void* region, const void* parent) noexcept {
  record_region(event_kind::region_create, region, parent, 0, MALLARD_CALL_SITE);
}

void region_allocate(const void* region, const void* block, std::size_t size) noexcept {
  record_region(event_kind::region_allocate, region, block, size, MALLARD_CALL_SITE);
}

void region_free(const void* region, const void* block) noexcept {
  record_region(event_kind::region_free, region, block, 0, MALLARD_CALL_SITE);
}

void region_clear(const void* region) noexcept {
  record_region(event_kind::region_clear, region, nullptr, 0, MALLARD_CALL_SITE);
}

void region_destroy(const void* region) noexcept {
  record_region(event_kind::region_destroy, region, nullptr, 0, MALLARD_CALL_SITE);
}

constexpr std::uint64_t mix(std::uint64_t key, std::uint64_t value) noexcept {
  const std::uint64_t mixed = (key ^ value) * 0x9e3779b97f4a7c15u;
  return mixed ^ mixed >> 29;
}

void set_scope(std::uint32_t index, const open_scope& scope, std::uint64_t place) noexcept {
  const std::uint64_t key = mix(mix(self.scopes.key_of(index) + 1, scope.frame), place) | 1;
  self.scopes.chain[index] = {scope.frame, scope.begun, place, key};
}

unsigned scope_begin(const char* name, const void* frame_address) noexcept {
  const auto frame = reinterpret_cast<std::uintptr_t>(frame_address);
  const auto begun = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
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

void scope_end(unsigned scope) noexcept {
  if (scope < self.scopes.count) self.scopes.count = scope;
}

}  // namespace

void move_scopes(spool_header* from, spool_header* to) noexcept {
  for (std::uint32_t i = 0; i < self.scopes.count; ++i)
    set_scope(i, self.scopes.chain[i], move_name(from, self.scopes.chain[i].place, to));
}

}  // namespace mallard::recorder

extern "C" [[gnu::visibility("default")]] const mallard_annotations mallard_record_annotations = {
    .version = 1,
    .region_create = mallard::recorder::region_create,
    .region_allocate = mallard::recorder::region_allocate,
    .region_free = mallard::recorder::region_free,
    .region_clear = mallard::recorder::region_clear,
    .region_destroy = mallard::recorder::region_destroy,
    .scope_begin = mallard::recorder::scope_begin,
    .scope_end = mallard::recorder::scope_end,
};
