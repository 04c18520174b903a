// Operators new and delete, in every form: one event each, whatever they call in turn.
//
// The real operator may call the new handler, throw, or be a replacement from one of the program's libraries.
// A nested call is passed on unrecorded.
#include <cstddef>
#include <cstdint>

#include "recorder/preload/event/call.hpp"
#include "recorder/preload/event/record_call.hpp"
#include "recorder/preload/malloc/real_malloc.hpp"
#include "recorder/preload/malloc/real_operators.hpp"

namespace mallard::recorder {
namespace {

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
