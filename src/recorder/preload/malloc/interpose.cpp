// The entry points: the malloc family and operators new and delete, as the program calls them.
//
// An allocation is recorded after the real call and a free before it, so a thread that receives an address
// which another thread has freed records it later than that free. An event is in the ring before the program
// has the block. A reallocation is both; it is recorded after the call.
//
// An operator is one event in every form, whatever it calls in turn. The real one may call the new handler,
// throw, or be a replacement from one of the program's libraries. A nested call is passed on unrecorded.
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

using plain_new = void* (*)(std::size_t, std::size_t, const void*);
using plain_delete = void (*)(void*, std::size_t, std::size_t);

// Operators take an alignment and the tag of the nothrow forms in the same registers wherever they stand.
MALLARD_INLINE void* record_new(const call& here, operator_form form, const event_fields& fields,
                                std::size_t second, const void* third, const call_site& site) {
  const open_event open{fields, site};
  return record_block(here, fields, site, [&] {
    if (is_plain_malloc(form)) [[likely]] {
      void* p = real.malloc(fields.size != 0 ? fields.size : 1);
      if (p != nullptr) [[likely]]
        return p;
    }
    void* function = real_operator(form);
    if (function == nullptr) [[unlikely]]
      return real.malloc(fields.size);
    if (!here.is_outermost()) return reinterpret_cast<plain_new>(function)(fields.size, second, third);
    event_of_new = &open;
    return mallard_guarded_call(function, fields.size, second, third);
  });
}

MALLARD_INLINE void call_delete(operator_form form, void* p, std::size_t second, std::size_t third) noexcept {
  if (is_plain_malloc(form)) [[likely]]
    return real.free(p);
  void* function = real_operator(form);
  if (function == nullptr) [[unlikely]]
    return real.free(p);
  reinterpret_cast<plain_delete>(function)(p, second, third);
}

MALLARD_INLINE std::size_t word(const void* p) noexcept { return reinterpret_cast<std::uintptr_t>(p); }

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

#define MALLARD_NEW(name, kind)                                                                         \
  MALLARD_INTERPOSED void* name(std::size_t size) {                                                     \
    const call here;                                                                                    \
    return record_new(here, operator_form::name, allocation_fields(event_kind::kind, size), 0, nullptr, \
                      MALLARD_CALL_SITE);                                                               \
  }
#define MALLARD_NEW_NOTHROW(name, kind)                                                                \
  MALLARD_INTERPOSED void* name(std::size_t size, const void* tag) {                                   \
    const call here;                                                                                   \
    return record_new(here, operator_form::name, allocation_fields(event_kind::kind, size), word(tag), \
                      nullptr, MALLARD_CALL_SITE);                                                     \
  }
#define MALLARD_NEW_ALIGNED(name, kind)                                                             \
  MALLARD_INTERPOSED void* name(std::size_t size, std::size_t alignment) {                          \
    const call here;                                                                                \
    return record_new(here, operator_form::name, aligned_fields(event_kind::kind, size, alignment), \
                      alignment, nullptr, MALLARD_CALL_SITE);                                       \
  }
#define MALLARD_NEW_ALIGNED_NOTHROW(name, kind)                                                     \
  MALLARD_INTERPOSED void* name(std::size_t size, std::size_t alignment, const void* tag) {         \
    const call here;                                                                                \
    return record_new(here, operator_form::name, aligned_fields(event_kind::kind, size, alignment), \
                      alignment, tag, MALLARD_CALL_SITE);                                           \
  }
#define MALLARD_DELETE(name, kind)                                                        \
  MALLARD_INTERPOSED void name(void* p, std::size_t second, std::size_t third) noexcept { \
    const call here;                                                                      \
    if (p == nullptr) return call_delete(operator_form::name, p, second, third);          \
    record_free(here, event_kind::kind, p, MALLARD_CALL_SITE,                             \
                [&] { call_delete(operator_form::name, p, second, third); });             \
  }

MALLARD_NEW(_Znwm, new_)
MALLARD_NEW_NOTHROW(_ZnwmRKSt9nothrow_t, new_)
MALLARD_NEW_ALIGNED(_ZnwmSt11align_val_t, new_)
MALLARD_NEW_ALIGNED_NOTHROW(_ZnwmSt11align_val_tRKSt9nothrow_t, new_)
MALLARD_NEW(_Znam, new_array)
MALLARD_NEW_NOTHROW(_ZnamRKSt9nothrow_t, new_array)
MALLARD_NEW_ALIGNED(_ZnamSt11align_val_t, new_array)
MALLARD_NEW_ALIGNED_NOTHROW(_ZnamSt11align_val_tRKSt9nothrow_t, new_array)

// The size, alignment and tag that the forms take are passed on as they came.
MALLARD_DELETE(_ZdlPv, delete_)
MALLARD_DELETE(_ZdlPvm, delete_)
MALLARD_DELETE(_ZdlPvSt11align_val_t, delete_)
MALLARD_DELETE(_ZdlPvmSt11align_val_t, delete_)
MALLARD_DELETE(_ZdlPvRKSt9nothrow_t, delete_)
MALLARD_DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t, delete_)
MALLARD_DELETE(_ZdaPv, delete_array)
MALLARD_DELETE(_ZdaPvm, delete_array)
MALLARD_DELETE(_ZdaPvSt11align_val_t, delete_array)
MALLARD_DELETE(_ZdaPvmSt11align_val_t, delete_array)
MALLARD_DELETE(_ZdaPvRKSt9nothrow_t, delete_array)
MALLARD_DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t, delete_array)
