// The entry points of the malloc family, as the program calls them.
//
// An allocation is recorded after the real call and a free before it, so a thread that receives an address
// which another thread has freed records it later than that free. An event is in the ring before the program
// has the block. A reallocation is both; it is recorded after the call.
#include <cstddef>
#include <cstdint>

#include "recorder/preload/event/call.hpp"
#include "recorder/preload/event/record_call.hpp"
#include "recorder/preload/malloc/real_malloc.hpp"

namespace mallard::recorder {
namespace {

// Bytes of an array; SIZE_MAX, which no allocator can serve, if the product overflows.
MALLARD_INLINE std::size_t product(std::size_t count, std::size_t size) noexcept {
  std::size_t whole = 0;
  return __builtin_mul_overflow(count, size, &whole) ? SIZE_MAX : whole;
}

}  // namespace
}  // namespace mallard::recorder

using namespace mallard::recorder;

MALLARD_INTERPOSED void* malloc(std::size_t size) noexcept {
  const call here;
  return record_allocation(here, event_kind::malloc, size, MALLARD_CALL_SITE,
                           [=] { return real.malloc(size); });
}

MALLARD_INTERPOSED void* calloc(std::size_t count, std::size_t size) noexcept {
  const call here;
  return record_allocation(here, event_kind::calloc, product(count, size), MALLARD_CALL_SITE,
                           [=] { return real.calloc(count, size); });
}

MALLARD_INTERPOSED int posix_memalign(void** out, std::size_t alignment, std::size_t size) noexcept {
  const call here;
  int error = 0;
  record_aligned(here, event_kind::posix_memalign, size, alignment, MALLARD_CALL_SITE, [&] {
    error = real.posix_memalign(out, alignment, size);
    return error == 0 ? *out : nullptr;
  });
  return error;
}

MALLARD_INTERPOSED void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  const call here;
  return record_aligned(here, event_kind::aligned_alloc, size, alignment, MALLARD_CALL_SITE,
                        [=] { return real.aligned_alloc(alignment, size); });
}

MALLARD_INTERPOSED void* memalign(std::size_t alignment, std::size_t size) noexcept {
  const call here;
  return record_aligned(here, event_kind::memalign, size, alignment, MALLARD_CALL_SITE,
                        [=] { return real.memalign(alignment, size); });
}

MALLARD_INTERPOSED void* valloc(std::size_t size) noexcept {
  const call here;
  return record_allocation(here, event_kind::valloc, size, MALLARD_CALL_SITE,
                           [=] { return real.valloc(size); });
}

MALLARD_INTERPOSED void* pvalloc(std::size_t size) noexcept {
  const call here;
  return record_allocation(here, event_kind::pvalloc, size, MALLARD_CALL_SITE,
                           [=] { return real.pvalloc(size); });
}

MALLARD_INTERPOSED void* realloc(void* old, std::size_t size) noexcept {
  const call here;
  if (is_bootstrap(old)) return move_out_of_bootstrap(old, size);
  return record_reallocation(here, event_kind::realloc, old, size, MALLARD_CALL_SITE,
                             [=] { return real.realloc(old, size); });
}

MALLARD_INTERPOSED void* reallocarray(void* old, std::size_t count, std::size_t size) noexcept {
  const call here;
  if (is_bootstrap(old)) return move_out_of_bootstrap(old, product(count, size));
  return record_reallocation(here, event_kind::reallocarray, old, product(count, size), MALLARD_CALL_SITE,
                             [=] { return real.reallocarray(old, count, size); });
}

MALLARD_INTERPOSED void free(void* p) noexcept {
  if (p == nullptr || is_bootstrap(p)) return;
  const call here;
  record_free(here, event_kind::free, p, MALLARD_CALL_SITE, [=] { real.free(p); });
}

// The sized forms of C23, also for programs whose libc does not have them yet.
MALLARD_INTERPOSED void free_sized(void* p, std::size_t size) noexcept {
  if (p == nullptr || is_bootstrap(p)) return;
  const call here;
  record_sized_free(here, event_kind::free_sized, p, size, 0, MALLARD_CALL_SITE, [=] { real.free(p); });
}

MALLARD_INTERPOSED void free_aligned_sized(void* p, std::size_t alignment, std::size_t size) noexcept {
  if (p == nullptr || is_bootstrap(p)) return;
  const call here;
  record_sized_free(here, event_kind::free_aligned_sized, p, size, alignment, MALLARD_CALL_SITE,
                    [=] { real.free(p); });
}
