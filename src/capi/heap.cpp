// The functions of mallard.h about a whole heap: made of the kind, source, lock or caches that options ask
// for, measured, cleared, ended.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <type_traits>

#include "capi/heap_of.hpp"
#include "capi/segment_forms.hpp"
#include "mallard.h"
#include "mallard/core/align.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/heap/best_fit.hpp"
#include "mallard/heap/reap.hpp"
#include "mallard/heap/region.hpp"
#include "mallard/heap/synchronized_best_fit.hpp"
#include "mallard/layer/locked.hpp"
#include "mallard/source/default_source.hpp"
#include "mallard/source/fixed_buffer.hpp"

namespace mallard::capi {
namespace {

// Structs of mallard.h that begin with their size, between a program and a library of two ages.
//
//     of the program    [ size | a | b ]                  an older one knows less: what it lacks is 0
//     of the library    [ size | a | b | c ]              a newer one knows more: what it adds must be 0
//
// `First` is the size that the struct had in the first version; no program has a smaller one, and none has
// one above `most`: anything that claims so is no struct and is not read.
constexpr std::size_t most = 1024;  // bytes

// Whether `given` is understood; `known` is what it says then.
template <std::size_t First, class T>
  requires std::is_trivially_copyable_v<T>
[[nodiscard]] bool read_sized(const T& given, T& known) noexcept {
  if (given.size < First || given.size > most) return false;
  const auto* const bytes = reinterpret_cast<const unsigned char*>(&given);
  for (std::size_t i = sizeof(T); i < given.size; ++i)
    if (bytes[i] != 0) return false;
  known = T{};
  std::memcpy(&known, bytes, std::min(given.size, sizeof(T)));
  return true;
}

// Whether `asked` is a struct of some version; it has what it has room for then, and its size as before.
template <std::size_t First, class T>
  requires std::is_trivially_copyable_v<T>
[[nodiscard]] bool write_sized(T told, T& asked) noexcept {
  if (asked.size < First || asked.size > most) return false;
  told.size = asked.size;
  std::memcpy(static_cast<void*>(&asked), &told, std::min(told.size, sizeof(T)));
  return true;
}

constexpr std::size_t first_options_size = 4 * sizeof(std::size_t);
constexpr std::size_t first_statistics_size = 4 * sizeof(std::size_t);

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
  using form = locked<Form<Source>>;
};

// A cached heap also has a lock, so both flags together mean cached.
template <template <class> class Form>
mallard_heap* make_as_flagged(const mallard_heap_options& wanted) noexcept {
  if ((wanted.flags & MALLARD_CACHED) != 0) return make<cached_form>(wanted);
  if ((wanted.flags & MALLARD_LOCKED) != 0) return make<behind_lock<Form>::template form>(wanted);
  return make<Form>(wanted);
}

// Segments are of the process, and a heap over them is no part of a buffer.
mallard_heap* make_of_segments(const mallard_heap_options& wanted) noexcept {
  if ((wanted.flags & MALLARD_LOCKED) != 0)
    return own_pages::make<heap_of<locked<clearable_segments>, own_pages>>();
  return own_pages::make<heap_of<owned_segments, own_pages>>();
}

mallard_heap* make_of_kind(const mallard_heap_options& wanted) noexcept {
  switch (wanted.kind) {
    case MALLARD_REGION:
      return make_as_flagged<region_form>(wanted);
    case MALLARD_REAP:
      return make_as_flagged<reap_form>(wanted);
    case MALLARD_SEGMENTS:
      return make_of_segments(wanted);
    default:
      return make_as_flagged<best_fit_form>(wanted);
  }
}

bool is_understood(const mallard_heap_options& wanted) noexcept {
  const unsigned flags = wanted.kind == MALLARD_BEST_FIT ? MALLARD_LOCKED | MALLARD_CACHED : MALLARD_LOCKED;
  const bool may_have_buffer = wanted.kind != MALLARD_SEGMENTS;
  return wanted.kind <= MALLARD_SEGMENTS && (wanted.flags & ~flags) == 0 &&
         (wanted.buffer != nullptr ? may_have_buffer : wanted.buffer_size == 0);
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

void mallard_heap_destroy(mallard_heap* heap) noexcept {
  if (heap != nullptr) heap->destroy();
}

void mallard_heap_adopt(mallard_heap* heap) noexcept { heap->adopt(); }

void mallard_heap_clear(mallard_heap* heap) noexcept { heap->clear(); }

size_t mallard_heap_trim(mallard_heap* heap, size_t keep) noexcept { return heap->trim(keep); }

mallard_status mallard_heap_measure(const mallard_heap* heap, mallard_heap_statistics* statistics) noexcept {
  const mallard::heap_usage usage = heap->usage();
  const mallard_heap_statistics found{0, usage.granted, usage.held, usage.held - usage.carved};
  const bool is_told = mallard::capi::write_sized<mallard::capi::first_statistics_size>(found, *statistics);
  return is_told ? MALLARD_OK : MALLARD_INVALID_ARGUMENT;
}

const char* mallard_heap_validate(const mallard_heap* heap) noexcept { return heap->validate().what; }
