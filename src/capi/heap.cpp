// The functions of mallard.h about a whole heap.

#include "capi/mallard_heap.hpp"

#include <cstddef>

#include "capi/sized_struct.hpp"
#include "mallard.h"
#include "mallard/core/usage.hpp"

namespace {

constexpr std::size_t first_statistics_size = 4 * sizeof(std::size_t);

}  // namespace

void mallard_heap_destroy(mallard_heap* heap) noexcept {
  if (heap != nullptr) heap->destroy();
}

void mallard_heap_clear(mallard_heap* heap) noexcept { heap->clear(); }

size_t mallard_heap_trim(mallard_heap* heap, size_t keep) noexcept { return heap->trim(keep); }

mallard_status mallard_heap_measure(const mallard_heap* heap, mallard_heap_statistics* statistics) noexcept {
  const mallard::heap_usage usage = heap->usage();
  const mallard_heap_statistics found{0, usage.granted, usage.held, usage.held - usage.carved};
  const bool is_told = mallard::capi::write_sized<first_statistics_size>(found, *statistics);
  return is_told ? MALLARD_OK : MALLARD_INVALID_ARGUMENT;
}

const char* mallard_heap_validate(const mallard_heap* heap) noexcept { return heap->validate().what; }
