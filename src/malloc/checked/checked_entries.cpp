// The entry points of the checked build: those of malloc_entries.cpp, each with its caller and its family.
//
//     malloc(n)            --> allocate(n, 16, by malloc, caller)
//     delete[](p, n)       --> deallocate(p, n, -, by delete[], caller): does it belong to what allocated p?
//     dlclose(library)     --> functions are forgotten, whose addresses others may have next
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>

#include <bit>
#include <cstddef>

#include "mallard/core/align.hpp"
#include "malloc/checked/checked_blocks.hpp"
#include "malloc/deep_bound.hpp"
#include "malloc/failed_new.hpp"

#define MALLARD_ENTRY extern "C" [[gnu::visibility("default")]]

namespace mallard::malloc_library {
namespace {

constexpr std::size_t page = 4096;

constexpr way by_malloc{"malloc"};
constexpr way by_aligned_alloc{"aligned_alloc", family::of_malloc, true};
constexpr way by_realloc{"realloc"};
constexpr way by_free{"free"};
constexpr way by_free_sized{"free_sized"};
constexpr way by_free_aligned_sized{"free_aligned_sized", family::of_malloc, true};
constexpr way by_new{"new", family::of_new};
constexpr way by_aligned_new{"new", family::of_new, true};
constexpr way by_array_new{"new[]", family::of_array_new};
constexpr way by_aligned_array_new{"new[]", family::of_array_new, true};
constexpr way by_delete{"delete", family::of_new};
constexpr way by_aligned_delete{"delete with an alignment", family::of_new, true};
constexpr way by_array_delete{"delete[]", family::of_array_new};
constexpr way by_aligned_array_delete{"delete[] with an alignment", family::of_array_new, true};

void* failed(int error) noexcept {
  errno = error;
  return nullptr;
}

// An alignment that is not a power of two counts as the next one, as in the C library's memalign.
void* allocate_aligned(std::size_t align, std::size_t size, const way& by,
                       const walk_start& caller) noexcept {
  if (align > max_request) return failed(EINVAL);
  return allocate(size, std::bit_ceil(align), by, caller);
}

void* get(std::size_t size, std::size_t align, const way& by, const walk_start& caller) {
  void* const p = allocate_aligned(align, size, by, caller);
  return p != nullptr ? p : new_or_throw([&] { return allocate_aligned(align, size, by, caller); });
}

// How many libraries have been unloaded.
unsigned long long unloaded() noexcept {
  unsigned long long count = 0;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* to) {
        *static_cast<unsigned long long*>(to) = info->dlpi_subs;
        return 1;
      },
      &count);
  return count;
}

}  // namespace

const bool operators_have_blocks_of_their_own = true;

}  // namespace mallard::malloc_library

using namespace mallard::malloc_library;

MALLARD_ENTRY void* malloc(std::size_t size) noexcept {
  return allocate(size, mallard::default_align, by_malloc, MALLARD_CALLER);
}

MALLARD_ENTRY void* calloc(std::size_t count, std::size_t size) noexcept {
  std::size_t whole = 0;
  if (__builtin_mul_overflow(count, size, &whole)) return failed(ENOMEM);
  return allocate_zeroed(whole, by_malloc, MALLARD_CALLER);
}

MALLARD_ENTRY void* realloc(void* p, std::size_t size) noexcept {
  return reallocate(p, size, by_realloc, MALLARD_CALLER);
}

MALLARD_ENTRY void* reallocarray(void* p, std::size_t count, std::size_t size) noexcept {
  std::size_t whole = 0;
  if (__builtin_mul_overflow(count, size, &whole)) return failed(ENOMEM);
  return reallocate(p, whole, by_realloc, MALLARD_CALLER);
}

MALLARD_ENTRY void free(void* p) noexcept { deallocate(p, unknown_size, 0, by_free, MALLARD_CALLER); }
MALLARD_ENTRY void cfree(void* p) noexcept { deallocate(p, unknown_size, 0, by_free, MALLARD_CALLER); }
MALLARD_ENTRY void free_sized(void* p, std::size_t size) noexcept {
  deallocate(p, size, 0, by_free_sized, MALLARD_CALLER);
}
MALLARD_ENTRY void free_aligned_sized(void* p, std::size_t align, std::size_t size) noexcept {
  deallocate(p, size, align, by_free_aligned_sized, MALLARD_CALLER);
}

MALLARD_ENTRY int posix_memalign(void** out, std::size_t align, std::size_t size) noexcept {
  if (align % sizeof(void*) != 0 || !std::has_single_bit(align)) return EINVAL;
  const int saved_errno = errno;
  void* const p = allocate_aligned(align, size, by_aligned_alloc, MALLARD_CALLER);
  errno = saved_errno;
  if (p == nullptr) return ENOMEM;
  *out = p;
  return 0;
}

MALLARD_ENTRY void* aligned_alloc(std::size_t align, std::size_t size) noexcept {
  if (!std::has_single_bit(align)) return failed(EINVAL);
  return allocate_aligned(align, size, by_aligned_alloc, MALLARD_CALLER);
}
MALLARD_ENTRY void* memalign(std::size_t align, std::size_t size) noexcept {
  return allocate_aligned(align, size, by_aligned_alloc, MALLARD_CALLER);
}
MALLARD_ENTRY void* valloc(std::size_t size) noexcept {
  return allocate_aligned(page, size, by_aligned_alloc, MALLARD_CALLER);
}
MALLARD_ENTRY void* pvalloc(std::size_t size) noexcept {
  if (size > mallard::max_request - page) return failed(ENOMEM);
  return allocate_aligned(page, mallard::align_up(size, page), by_aligned_alloc, MALLARD_CALLER);
}

MALLARD_ENTRY std::size_t malloc_usable_size(void* p) noexcept { return requested_size(p); }

MALLARD_ENTRY int malloc_trim(std::size_t pad) noexcept {
  std::size_t given = mine == &no_heap ? 0 : mine->trim(0);  // whose batch may be an idle heap's
  given += trim_idle_heaps();
  return static_cast<int>(given + the_segments.trim(pad) != 0);
}

MALLARD_ENTRY int dlclose(void* library) noexcept {
  using close_function = int(void*);
  static constinit close_function* real = nullptr;
  if (real == nullptr) real = find_function<close_function>(RTLD_NEXT, "dlclose");
  const unsigned long long before = unloaded();
  const int result = real(library);
  if (unloaded() != before) forget_functions();
  return result;
}

// By their linker names: an alignment and the tag of the nothrow forms are passed as words.
MALLARD_ENTRY void* _Znwm(std::size_t size) { return get(size, 1, by_new, MALLARD_CALLER); }
MALLARD_ENTRY void* _Znam(std::size_t size) { return get(size, 1, by_array_new, MALLARD_CALLER); }
MALLARD_ENTRY void* _ZnwmRKSt9nothrow_t(std::size_t size, const void* t) noexcept {
  void* const p = allocate(size, 1, by_new, MALLARD_CALLER);
  return p != nullptr ? p : new_or_null("_ZnwmRKSt9nothrow_t", size, t);
}
MALLARD_ENTRY void* _ZnamRKSt9nothrow_t(std::size_t size, const void* t) noexcept {
  void* const p = allocate(size, 1, by_array_new, MALLARD_CALLER);
  return p != nullptr ? p : new_or_null("_ZnamRKSt9nothrow_t", size, t);
}
MALLARD_ENTRY void* _ZnwmSt11align_val_t(std::size_t size, std::size_t align) {
  return get(size, align, by_aligned_new, MALLARD_CALLER);
}
MALLARD_ENTRY void* _ZnamSt11align_val_t(std::size_t size, std::size_t align) {
  return get(size, align, by_aligned_array_new, MALLARD_CALLER);
}
MALLARD_ENTRY void* _ZnwmSt11align_val_tRKSt9nothrow_t(std::size_t size, std::size_t align,
                                                       const void* t) noexcept {
  void* const p = allocate_aligned(align, size, by_aligned_new, MALLARD_CALLER);
  return p != nullptr ? p : new_or_null("_ZnwmSt11align_val_tRKSt9nothrow_t", size, align, t);
}
MALLARD_ENTRY void* _ZnamSt11align_val_tRKSt9nothrow_t(std::size_t size, std::size_t align,
                                                       const void* t) noexcept {
  void* const p = allocate_aligned(align, size, by_aligned_array_new, MALLARD_CALLER);
  return p != nullptr ? p : new_or_null("_ZnamSt11align_val_tRKSt9nothrow_t", size, align, t);
}

MALLARD_ENTRY void _ZdlPv(void* p) noexcept { deallocate(p, unknown_size, 0, by_delete, MALLARD_CALLER); }
MALLARD_ENTRY void _ZdaPv(void* p) noexcept {
  deallocate(p, unknown_size, 0, by_array_delete, MALLARD_CALLER);
}
MALLARD_ENTRY void _ZdlPvm(void* p, std::size_t size) noexcept {
  deallocate(p, size, 0, by_delete, MALLARD_CALLER);
}
MALLARD_ENTRY void _ZdaPvm(void* p, std::size_t size) noexcept {
  deallocate(p, size, 0, by_array_delete, MALLARD_CALLER);
}
MALLARD_ENTRY void _ZdlPvRKSt9nothrow_t(void* p, const void*) noexcept {
  deallocate(p, unknown_size, 0, by_delete, MALLARD_CALLER);
}
MALLARD_ENTRY void _ZdaPvRKSt9nothrow_t(void* p, const void*) noexcept {
  deallocate(p, unknown_size, 0, by_array_delete, MALLARD_CALLER);
}
MALLARD_ENTRY void _ZdlPvSt11align_val_t(void* p, std::size_t align) noexcept {
  deallocate(p, unknown_size, align, by_aligned_delete, MALLARD_CALLER);
}
MALLARD_ENTRY void _ZdaPvSt11align_val_t(void* p, std::size_t align) noexcept {
  deallocate(p, unknown_size, align, by_aligned_array_delete, MALLARD_CALLER);
}
MALLARD_ENTRY void _ZdlPvmSt11align_val_t(void* p, std::size_t size, std::size_t align) noexcept {
  deallocate(p, size, align, by_aligned_delete, MALLARD_CALLER);
}
MALLARD_ENTRY void _ZdaPvmSt11align_val_t(void* p, std::size_t size, std::size_t align) noexcept {
  deallocate(p, size, align, by_aligned_array_delete, MALLARD_CALLER);
}
MALLARD_ENTRY void _ZdlPvSt11align_val_tRKSt9nothrow_t(void* p, std::size_t align, const void*) noexcept {
  deallocate(p, unknown_size, align, by_aligned_delete, MALLARD_CALLER);
}
MALLARD_ENTRY void _ZdaPvSt11align_val_tRKSt9nothrow_t(void* p, std::size_t align, const void*) noexcept {
  deallocate(p, unknown_size, align, by_aligned_array_delete, MALLARD_CALLER);
}
