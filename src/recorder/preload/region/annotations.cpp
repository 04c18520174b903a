// The functions that mallard/annotate.h finds and calls in a recorded program.
#include "mallard/annotate.h"

#include "recorder/preload/region/region_calls.hpp"
#include "recorder/preload/region/scopes.hpp"

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

unsigned scope_begin(const char* name, const void* frame) noexcept {
  return begin_scope(name, reinterpret_cast<std::uintptr_t>(frame),
                     reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)));
}

void scope_end(unsigned scope) noexcept { end_scope(scope); }

}  // namespace
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
