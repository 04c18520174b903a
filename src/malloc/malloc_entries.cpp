// The entry points: the malloc family, and operators new and delete in every form.
//
//     malloc(n) --> a free block of its class at hand
//           `-----> allocate_anywhere(): the thread's heap, made first if need be
//     free(p) ----> entry of its segment: the thread's own slab
//           `-----> free_anywhere(): large, another thread's; free_elsewhere(): none of ours
//
// What is none of ours is the C library's: a library that was loaded with RTLD_DEEPBIND calls that malloc,
// and others free what it returns. So is an address that is in no span of ours, and if no malloc has returned
// it, the C library says so and aborts. What a new does that finds no memory is in failed_new.hpp.
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <bit>
#include <cstddef>

#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "malloc/bump_pool.hpp"
#include "malloc/deep_bound.hpp"
#include "malloc/failed_new.hpp"
#include "malloc/heap_of_thread.hpp"
#include "malloc/routes.hpp"

#define MALLARD_ENTRY extern "C" [[gnu::visibility("default")]]

// The C library's own; absent where that is linked statically.
extern "C" {
[[gnu::weak]] void __libc_free(void* p);
[[gnu::weak]] void* __libc_malloc(std::size_t size);
[[gnu::weak]] void* __libc_calloc(std::size_t count, std::size_t size);
[[gnu::weak]] void* __libc_memalign(std::size_t align, std::size_t size);
[[gnu::weak]] void* __libc_realloc(void* p, std::size_t size);
}

namespace mallard::malloc_library {
namespace {

constexpr std::size_t page = 4096;

// Addresses behind a large block that has moved once to grow in; what is not used costs nothing.
constexpr std::size_t most_room = std::size_t{64} << 20;
// Bytes of a large block from which on its pages are moved, not copied: copying takes as long as two system
// calls.
constexpr std::size_t least_moved = std::size_t{128} << 10;

void* failed(int error) noexcept {
  errno = error;
  return nullptr;
}

MALLARD_NOINLINE void* allocate_anywhere(std::size_t size, std::size_t align) noexcept {
  if (the_plan.default_is_libc)
    return align <= default_align ? __libc_malloc(size) : __libc_memalign(align, size);
  const borrowed_heap h;
  if (!h) return failed(ENOMEM);
  void* const p = h->allocate(size, align).data;
  return p != nullptr ? p : failed(ENOMEM);
}

// A class whose blocks are too large for the table, or one without a block at hand.
MALLARD_NOINLINE void* allocate_unlisted(std::size_t size) noexcept {
  if (size <= heap::classes::largest) [[likely]]
    if (void* const p = mine->take_of_class_for(size); p != nullptr) return p;
  return allocate_anywhere(size, default_align);
}

MALLARD_INLINE void* allocate(std::size_t size) noexcept {
  if (size <= at_hand_most) [[likely]]
    if (void* const p = mine->take_at_hand(size); p != nullptr) [[likely]]
      return p;
  if (is_routed()) return routed_malloc(size);
  return allocate_unlisted(size);
}

// None of ours, or none at all.
MALLARD_NOINLINE void free_elsewhere(void* p) noexcept {
  if (p != nullptr && __libc_free != nullptr) __libc_free(p);
}

std::size_t usable(const segment& s, const void* p) noexcept {
  if (s.use == segment_use::large) return s.bytes;
  return s.index == bump_pool::mixed ? bump_pool::size_of(p) : s.size;
}

// A large block, one of another thread's heap, or none of ours; while a plan counts, this thread's own, too.
MALLARD_NOINLINE void free_of_others(segment& s, void* p) noexcept {
  if (s.use != segment_use::slab && s.use != segment_use::large) return free_elsewhere(p);
  if (s.use == segment_use::large) return mine->end_elsewhere(s, p);
  if (the_plan.counts != nullptr) {
    count_live(s, -static_cast<std::int64_t>(usable(s, p)));
    if (s.owner == my_route.of_thread) return heap::slabs::free(s, p);
  }
  const borrowed_heap h;  // a thread that only frees has one, too, which collects what it returns
  if (h) return h->end_elsewhere(s, p);
  static_cast<heap*>(const_cast<void*>(s.owner))->receive(p);
}

// Rules with many pools have all of their blocks in parts of segments. What is rare is a function of its own:
// inlined, it would have every call save registers.
MALLARD_NOINLINE void free_anywhere(segment& in, void* p) noexcept {
  segment& s = in.use == segment_use::split ? *the_segments.find_part(p) : in;
  if (mine->owns_slab(s)) return mine->deallocate(s, p);
  free_of_others(s, p);
}

MALLARD_INLINE void deallocate(void* p) noexcept {
  segment* const s = the_segments.find(p);
  if (s == nullptr) [[unlikely]]
    return free_elsewhere(p);
  if (mine->owns_slab(*s)) [[likely]]
    return mine->deallocate(*s, p);
  free_anywhere(*s, p);
}

void* allocate_zeroed(std::size_t size) noexcept {
  if (size > heap::classes::largest) {
    if (the_plan.default_is_libc) return __libc_calloc(1, size);
    const borrowed_heap h;
    segment* const s = h ? h->allocate_large(size, default_align) : nullptr;
    if (s == nullptr) return failed(ENOMEM);
    void* const p = the_segments.start_of(s);
    return s->is_zero ? p : memset(p, 0, size);
  }
  void* const p = allocate(size);
  return p == nullptr ? p : memset(p, 0, size);
}

// An alignment that is not a power of two counts as the next one, as in the C library's memalign.
void* allocate_aligned(std::size_t align, std::size_t size) noexcept {
  if (align <= default_align) return allocate(size);
  if (align > max_request) return failed(EINVAL);
  return allocate_anywhere(size, std::bit_ceil(align));
}

bool is_ours(const segment* s) noexcept {
  return s != nullptr && (s->use == segment_use::slab || s->use == segment_use::large);
}

// To another block, with what both have room for.
void* move(void* p, void* to, std::size_t contents) noexcept {
  if (to == nullptr) return to;
  memcpy(to, p, contents);
  deallocate(p);
  return to;
}

// A block that has grown may grow again: it moves to where it has as much room behind it, of addresses.
void* move_to_grow(segment& s, void* p, std::size_t contents, std::size_t size) noexcept {
  const borrowed_heap h;
  segment* const to = h ? h->allocate_large(size, default_align, std::min(size, most_room)) : nullptr;
  if (to == nullptr) return failed(ENOMEM);
  void* const moved = the_segments.start_of(to);
  if (contents < least_moved || !the_segments.move_pages(&s, to, contents)) return move(p, moved, contents);
  the_segments.give_back(&s, 0);
  return moved;
}

MALLARD_NOINLINE void* reallocate_large(segment& s, void* p, std::size_t size) noexcept {
  const std::size_t before = s.bytes;
  if (size <= heap::classes::largest / 2) return move(p, allocate(size), std::min(before, size));
  if (size > max_request) return failed(ENOMEM);
  const resize_way way = size > before ? resize_way::expand_forward : resize_way::try_shrink;
  if (mine->resize({p, before, default_align, size, size, way}).memory) return p;
  return move_to_grow(s, p, before, size);
}

void* reallocate(void* p, std::size_t size) noexcept {
  if (p == nullptr) return allocate(size);
  if (size == 0) return deallocate(p), nullptr;
  segment* const s = the_segments.find_part(p);
  if (!is_ours(s)) [[unlikely]]
    return __libc_realloc != nullptr ? __libc_realloc(p, size) : failed(ENOMEM);
  if (s->use == segment_use::large) return reallocate_large(*s, p, size);
  const std::size_t before = usable(*s, p);
  if (size <= before && size >= before / 2) return p;
  if (size > heap::classes::largest && !the_plan.default_is_libc) return move_to_grow(*s, p, before, size);
  return move(p, allocate(size), std::min(before, size));
}

std::size_t usable_size_elsewhere(void* p) noexcept {
  auto* const next =
      p == nullptr ? nullptr : find_function<std::size_t(void*)>(RTLD_NEXT, "malloc_usable_size");
  return next == nullptr ? 0 : next(p);
}

void* new_again(std::size_t size) {
  return new_or_throw([size] { return allocate(size); });
}
MALLARD_NOINLINE void* get_anywhere(std::size_t size) {
  void* const p = allocate_unlisted(size);
  return p != nullptr ? p : new_again(size);
}
MALLARD_INLINE void* get(std::size_t size) {
  if (size <= at_hand_most) [[likely]]
    if (void* const p = mine->take_at_hand(size); p != nullptr) [[likely]]
      return p;
  if (is_routed()) return routed_new(size);
  return get_anywhere(size);
}
MALLARD_INLINE void* get(std::size_t size, std::size_t align) {
  if (align <= default_align) return get(size);
  void* const p = allocate_aligned(align, size);
  return p != nullptr ? p : new_or_throw([=] { return allocate_aligned(align, size); });
}
MALLARD_INLINE void* get_nothrow(std::size_t size, const void* nothrow) noexcept {
  if (is_routed()) return routed_nothrow(size, nothrow);
  void* const p = allocate(size);
  return p != nullptr ? p : new_or_null("_ZnwmRKSt9nothrow_t", size, nothrow);
}
MALLARD_INLINE void* get_nothrow(std::size_t size, std::size_t align, const void* nothrow) noexcept {
  if (align <= default_align) return get_nothrow(size, nothrow);
  void* const p = allocate_aligned(align, size);
  return p != nullptr ? p : new_or_null("_ZnwmSt11align_val_tRKSt9nothrow_t", size, align, nothrow);
}

// What posix_memalign() returns: see there.
void* result(int error) noexcept { return reinterpret_cast<void*>(std::intptr_t{error}); }

// Whether realloc() needs another block, which the plan may have for it.
bool is_routed_to_another(void* p, std::size_t size) noexcept {
  if (!is_routed() || size == 0 || size > heap::classes::largest) return false;
  if (p == nullptr) return true;
  const segment* const s = the_segments.find_part(p);
  if (!is_ours(s)) return false;
  if (s->use == segment_use::large) return size <= heap::classes::largest / 2;
  const std::size_t before = usable(*s, p);
  return size > before || size < before / 2;
}

}  // namespace

void* allocate_by_default(std::size_t size) noexcept { return allocate_anywhere(size, default_align); }

bool has_libc_malloc() noexcept {
  return __libc_malloc != nullptr && __libc_calloc != nullptr && __libc_memalign != nullptr &&
         __libc_realloc != nullptr && __libc_free != nullptr;
}

// What a call does with the block that it has got, or without one. `p`: what realloc() moves, the tag of new,
// where posix_memalign() writes the block's address.
void* end_call(call what, void* block, std::size_t size, void* p) {
  switch (what) {
    case call::malloc:
      return block;
    case call::calloc:
      return block == nullptr ? block : memset(block, 0, size);
    case call::realloc: {
      if (p == nullptr) return block;
      return move(p, block, std::min(usable(*the_segments.find_part(p), p), size));
    }
    case call::make:
      return block != nullptr ? block : new_again(size);
    case call::make_nothrow:
      return block != nullptr ? block : new_or_null("_ZnwmRKSt9nothrow_t", size, p);
    case call::posix_memalign:
      if (block == nullptr) return result(ENOMEM);
      *static_cast<void**>(p) = block;
      return result(0);
  }
  return block;
}

const bool operators_have_blocks_of_their_own = false;

}  // namespace mallard::malloc_library

using namespace mallard::malloc_library;

MALLARD_ENTRY void* malloc(std::size_t size) noexcept { return allocate(size); }

MALLARD_ENTRY void* calloc(std::size_t count, std::size_t size) noexcept {
  std::size_t whole = 0;
  if (__builtin_mul_overflow(count, size, &whole)) return failed(ENOMEM);
  if (is_routed() && whole <= heap::classes::largest) return routed_calloc(whole);
  return allocate_zeroed(whole);
}

MALLARD_ENTRY void* realloc(void* p, std::size_t size) noexcept {
  if (is_routed_to_another(p, size)) return routed_realloc(size, p);
  return reallocate(p, size);
}

MALLARD_ENTRY void* reallocarray(void* p, std::size_t count, std::size_t size) noexcept {
  std::size_t whole = 0;
  if (__builtin_mul_overflow(count, size, &whole)) return failed(ENOMEM);
  if (is_routed_to_another(p, whole)) return routed_realloc(whole, p);
  return reallocate(p, whole);
}

MALLARD_ENTRY void free(void* p) noexcept { deallocate(p); }
MALLARD_ENTRY void cfree(void* p) noexcept { deallocate(p); }
MALLARD_ENTRY void free_sized(void* p, std::size_t) noexcept { deallocate(p); }
MALLARD_ENTRY void free_aligned_sized(void* p, std::size_t, std::size_t) noexcept { deallocate(p); }

// posix_memalign(). It returns an int, and this a pointer of the same bits: no compiler jumps to a routed
// call whose result has to become an int.
MALLARD_ENTRY void* mallard_posix_memalign(void** out, std::size_t align, std::size_t size) noexcept
    asm("posix_memalign");
void* mallard_posix_memalign(void** out, std::size_t align, std::size_t size) noexcept {
  if (align % sizeof(void*) != 0 || !std::has_single_bit(align)) return result(EINVAL);
  if (is_routed() && align <= mallard::default_align && size <= heap::classes::largest)
    return routed_posix_memalign(size, out);
  const int saved_errno = errno;
  void* const p = allocate_aligned(align, size);
  errno = saved_errno;
  return end_call(call::posix_memalign, p, size, out);
}

MALLARD_ENTRY void* aligned_alloc(std::size_t align, std::size_t size) noexcept {
  if (!std::has_single_bit(align)) return failed(EINVAL);
  return allocate_aligned(align, size);
}
MALLARD_ENTRY void* memalign(std::size_t align, std::size_t size) noexcept {
  return allocate_aligned(align, size);
}
MALLARD_ENTRY void* valloc(std::size_t size) noexcept { return allocate_aligned(page, size); }
MALLARD_ENTRY void* pvalloc(std::size_t size) noexcept {
  if (size > mallard::max_request - page) return failed(ENOMEM);
  return allocate_aligned(page, mallard::align_up(size, page));
}

MALLARD_ENTRY std::size_t malloc_usable_size(void* p) noexcept {
  const mallard::segment* const s = the_segments.find_part(p);
  return is_ours(s) ? usable(*s, p) : usable_size_elsewhere(p);
}

MALLARD_ENTRY int malloc_trim(std::size_t pad) noexcept {
  heap* const own = my_route.of_thread != nullptr ? my_route.of_thread : mine;
  std::size_t given = own == &no_heap ? 0 : trim_with_pools(own);  // whose batch may be an idle heap's
  given += trim_idle_heaps();
  return static_cast<int>(given + the_segments.trim(pad) != 0);
}

// By their linker names: an alignment and the tag of the nothrow forms are passed as words.
MALLARD_ENTRY void* _Znwm(std::size_t size) { return get(size); }
MALLARD_ENTRY void* _Znam(std::size_t size) { return get(size); }
MALLARD_ENTRY void* _ZnwmRKSt9nothrow_t(std::size_t size, const void* t) noexcept {
  return get_nothrow(size, t);
}
MALLARD_ENTRY void* _ZnamRKSt9nothrow_t(std::size_t size, const void* t) noexcept {
  return get_nothrow(size, t);
}
MALLARD_ENTRY void* _ZnwmSt11align_val_t(std::size_t size, std::size_t align) { return get(size, align); }
MALLARD_ENTRY void* _ZnamSt11align_val_t(std::size_t size, std::size_t align) { return get(size, align); }
MALLARD_ENTRY void* _ZnwmSt11align_val_tRKSt9nothrow_t(std::size_t size, std::size_t align,
                                                       const void* t) noexcept {
  return get_nothrow(size, align, t);
}
MALLARD_ENTRY void* _ZnamSt11align_val_tRKSt9nothrow_t(std::size_t size, std::size_t align,
                                                       const void* t) noexcept {
  return get_nothrow(size, align, t);
}

MALLARD_ENTRY void _ZdlPv(void* p) noexcept { deallocate(p); }
MALLARD_ENTRY void _ZdaPv(void* p) noexcept { deallocate(p); }
MALLARD_ENTRY void _ZdlPvm(void* p, std::size_t) noexcept { deallocate(p); }
MALLARD_ENTRY void _ZdaPvm(void* p, std::size_t) noexcept { deallocate(p); }
MALLARD_ENTRY void _ZdlPvRKSt9nothrow_t(void* p, const void*) noexcept { deallocate(p); }
MALLARD_ENTRY void _ZdaPvRKSt9nothrow_t(void* p, const void*) noexcept { deallocate(p); }
MALLARD_ENTRY void _ZdlPvSt11align_val_t(void* p, std::size_t) noexcept { deallocate(p); }
MALLARD_ENTRY void _ZdaPvSt11align_val_t(void* p, std::size_t) noexcept { deallocate(p); }
MALLARD_ENTRY void _ZdlPvmSt11align_val_t(void* p, std::size_t, std::size_t) noexcept { deallocate(p); }
MALLARD_ENTRY void _ZdaPvmSt11align_val_t(void* p, std::size_t, std::size_t) noexcept { deallocate(p); }
MALLARD_ENTRY void _ZdlPvSt11align_val_tRKSt9nothrow_t(void* p, std::size_t, const void*) noexcept {
  deallocate(p);
}
MALLARD_ENTRY void _ZdaPvSt11align_val_tRKSt9nothrow_t(void* p, std::size_t, const void*) noexcept {
  deallocate(p);
}
