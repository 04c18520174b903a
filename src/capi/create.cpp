// Makes the heap that options ask for: its kind, its source, its lock or caches, and a place for itself.

#include <cstddef>
#include <new>

#include "capi/heap_of.hpp"
#include "capi/sized_struct.hpp"
#include "mallard.h"
#include "mallard/core/align.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/light_mutex.hpp"
#include "mallard/heap/best_fit.hpp"
#include "mallard/heap/reap.hpp"
#include "mallard/heap/region.hpp"
#include "mallard/heap/synchronized_best_fit.hpp"
#include "mallard/layer/locked.hpp"
#include "mallard/source/default_source.hpp"
#include "mallard/source/fixed_buffer.hpp"

namespace mallard::capi {
namespace {

constexpr std::size_t first_options_size = 4 * sizeof(std::size_t);

// Null if the buffer is too small for it.
template <class Heap>
mallard_heap* make_in_buffer(void* buffer, std::size_t size) noexcept {
  using object = heap_of<Heap, callers_buffer>;
  const std::size_t before = padding_for(buffer, alignof(object));
  const std::size_t own = before + sizeof(object);
  if (size < own) return nullptr;
  auto* const begin = static_cast<std::byte*>(buffer);
  return ::new (static_cast<void*>(begin + before)) object(own, begin + own, size - own);
}

template <template <class> class Form>
mallard_heap* make(const mallard_heap_options& wanted) noexcept {
  return wanted.buffer == nullptr ? own_pages::make<heap_of<Form<default_source>, own_pages>>()
                                  : make_in_buffer<Form<fixed_buffer>>(wanted.buffer, wanted.buffer_size);
}

template <class Source>
using best_fit_form = basic_best_fit<Source>;
template <class Source>
using region_form = basic_region<Source>;
template <class Source>
using reap_form = basic_reap<Source>;
template <class Source>
using cached_form = basic_synchronized_best_fit<Source>;

template <template <class> class Form>
struct behind_lock {
  template <class Source>
  using form = locked<Form<Source>, light_mutex>;
};

// A cached heap also has a lock, so both flags together mean cached.
template <template <class> class Form>
mallard_heap* make_as_flagged(const mallard_heap_options& wanted) noexcept {
  if ((wanted.flags & MALLARD_CACHED) != 0) return make<cached_form>(wanted);
  if ((wanted.flags & MALLARD_LOCKED) != 0) return make<behind_lock<Form>::template form>(wanted);
  return make<Form>(wanted);
}

mallard_heap* make_of_kind(const mallard_heap_options& wanted) noexcept {
  switch (wanted.kind) {
    case MALLARD_REGION:
      return make_as_flagged<region_form>(wanted);
    case MALLARD_REAP:
      return make_as_flagged<reap_form>(wanted);
    default:
      return make_as_flagged<best_fit_form>(wanted);
  }
}

bool is_understood(const mallard_heap_options& wanted) noexcept {
  const unsigned flags = wanted.kind == MALLARD_BEST_FIT ? MALLARD_LOCKED | MALLARD_CACHED : MALLARD_LOCKED;
  return wanted.kind <= MALLARD_REAP && (wanted.flags & ~flags) == 0 &&
         (wanted.buffer != nullptr || wanted.buffer_size == 0);
}

}  // namespace
}  // namespace mallard::capi

mallard_status mallard_heap_create(mallard_heap** created, const mallard_heap_options* options) noexcept {
  namespace capi = mallard::capi;
  *created = nullptr;
  mallard_heap_options wanted = MALLARD_HEAP_OPTIONS;
  if (options != nullptr && !capi::read_sized<capi::first_options_size>(*options, wanted))
    return MALLARD_INVALID_ARGUMENT;
  if (!capi::is_understood(wanted)) return MALLARD_INVALID_ARGUMENT;
  *created = capi::make_of_kind(wanted);
  return *created != nullptr ? MALLARD_OK : MALLARD_OUT_OF_MEMORY;
}

mallard_status mallard_heap_create_child(mallard_heap** created, mallard_heap* parent,
                                         unsigned flags) noexcept {
  *created = nullptr;
  if ((flags & ~MALLARD_CLEARED_WITH_PARENT) != 0) return MALLARD_INVALID_ARGUMENT;
  return parent->make_child(
      *created, flags == 0 ? mallard::nesting::ends_with_parent : mallard::nesting::cleared_with_parent);
}
