// The entry points of the malloc family, as the program calls them.
//
// An allocation is recorded after the real call and a free before it: whoever receives an address that
// another thread has freed records it later than that free. An event is in the ring before the program
// learns of the block. A reallocation is both; it is recorded after the call.
#include <cstddef>
#include <cstdint>

#include "recorder/preload/call.hpp"
#include "recorder/preload/real_malloc.hpp"
#include "recorder/preload/session.hpp"
#include "recorder/preload/thread_state.hpp"
#include "recorder/record.hpp"

#define MALLARD_INTERPOSED extern "C" [[gnu::visibility("default")]]

namespace mallard::recorder {
namespace {

MALLARD_INLINE std::uint64_t word(const void* p) noexcept { return reinterpret_cast<std::uintptr_t>(p); }

MALLARD_INLINE std::uint64_t begin_record(event_kind kind, unsigned bits) noexcept {
  return first_word(static_cast<unsigned>(kind) | bits, session_time());
}

// `fields` are those of record.hpp behind the caller, in its order.
template <class... Fields>
MALLARD_INLINE void note_block(event_kind kind, const void* block, const void* caller,
                               Fields... fields) noexcept {
  const std::uint64_t record[] = {begin_record(kind, caller_bit), word(block), word(caller), fields...};
  put(record);
}

template <class... Fields>
MALLARD_INLINE void note_free(event_kind kind, const void* block, const void* caller,
                              Fields... fields) noexcept {
  if (gate.free_callers) {
    note_block(kind, block, caller, fields...);
  } else {
    const std::uint64_t record[] = {begin_record(kind, 0), word(block), fields...};
    put(record);
  }
}

// Bytes of an array; all there are if the product does not fit, which no allocator can serve.
MALLARD_INLINE std::size_t product(std::size_t count, std::size_t size) noexcept {
  std::size_t whole = 0;
  return __builtin_mul_overflow(count, size, &whole) ? SIZE_MAX : whole;
}

}  // namespace
}  // namespace mallard::recorder

using namespace mallard::recorder;

MALLARD_INTERPOSED void* malloc(std::size_t size) noexcept {
  call here;
  void* p = real.malloc(size);
  if (here.recorded()) note_block(event_kind::malloc, p, __builtin_return_address(0), size);
  return p;
}

MALLARD_INTERPOSED void* calloc(std::size_t count, std::size_t size) noexcept {
  call here;
  void* p = real.calloc(count, size);
  if (here.recorded()) note_block(event_kind::calloc, p, __builtin_return_address(0), product(count, size));
  return p;
}

MALLARD_INTERPOSED int posix_memalign(void** out, std::size_t alignment, std::size_t size) noexcept {
  call here;
  const int error = real.posix_memalign(out, alignment, size);
  if (here.recorded())
    note_block(event_kind::posix_memalign, error == 0 ? *out : nullptr, __builtin_return_address(0), size,
               alignment);
  return error;
}

MALLARD_INTERPOSED void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  call here;
  void* p = real.aligned_alloc(alignment, size);
  if (here.recorded()) note_block(event_kind::aligned_alloc, p, __builtin_return_address(0), size, alignment);
  return p;
}

MALLARD_INTERPOSED void* memalign(std::size_t alignment, std::size_t size) noexcept {
  call here;
  void* p = real.memalign(alignment, size);
  if (here.recorded()) note_block(event_kind::memalign, p, __builtin_return_address(0), size, alignment);
  return p;
}

MALLARD_INTERPOSED void* valloc(std::size_t size) noexcept {
  call here;
  void* p = real.valloc(size);
  if (here.recorded()) note_block(event_kind::valloc, p, __builtin_return_address(0), size);
  return p;
}

MALLARD_INTERPOSED void* pvalloc(std::size_t size) noexcept {
  call here;
  void* p = real.pvalloc(size);
  if (here.recorded()) note_block(event_kind::pvalloc, p, __builtin_return_address(0), size);
  return p;
}

MALLARD_INTERPOSED void* realloc(void* old, std::size_t size) noexcept {
  call here;
  if (is_bootstrap(old)) return move_out_of_bootstrap(old, size);
  void* p = real.realloc(old, size);
  if (here.recorded()) note_block(event_kind::realloc, p, __builtin_return_address(0), size, word(old));
  return p;
}

MALLARD_INTERPOSED void* reallocarray(void* old, std::size_t count, std::size_t size) noexcept {
  call here;
  if (is_bootstrap(old)) return move_out_of_bootstrap(old, product(count, size));
  void* p = real.reallocarray(old, count, size);
  if (here.recorded())
    note_block(event_kind::reallocarray, p, __builtin_return_address(0), product(count, size), word(old));
  return p;
}

MALLARD_INTERPOSED void free(void* p) noexcept {
  if (p == nullptr || is_bootstrap(p)) return;
  call here;
  if (here.recorded()) note_free(event_kind::free, p, __builtin_return_address(0));
  real.free(p);
}

// The sized forms of C23, also for programs whose libc has none yet: a promise about the size, then a free.
MALLARD_INTERPOSED void free_sized(void* p, std::size_t size) noexcept {
  if (p == nullptr || is_bootstrap(p)) return;
  call here;
  if (here.recorded()) note_free(event_kind::free_sized, p, __builtin_return_address(0), size);
  real.free(p);
}

MALLARD_INTERPOSED void free_aligned_sized(void* p, std::size_t alignment, std::size_t size) noexcept {
  if (p == nullptr || is_bootstrap(p)) return;
  call here;
  if (here.recorded())
    note_free(event_kind::free_aligned_sized, p, __builtin_return_address(0), size, alignment);
  real.free(p);
}
