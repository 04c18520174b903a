#include "recorder/preload/malloc/real_malloc.hpp"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include <atomic>

namespace mallard::recorder {

alignas(16) char bootstrap_buffer[bootstrap_bytes];

namespace {

// Blocks of the bootstrap buffer, one after the other, each behind its size; none is ever reused.
constexpr std::size_t bootstrap_header = 16;
std::atomic<std::size_t> bootstrap_used{0};

void* bootstrap_malloc(std::size_t size) noexcept {
  if (size > bootstrap_bytes) return nullptr;
  const std::size_t whole = bootstrap_header + ((size + 15) & ~std::size_t{15});
  const std::size_t at = bootstrap_used.fetch_add(whole, std::memory_order_relaxed);
  if (at + whole > bootstrap_bytes) return nullptr;
  memcpy(bootstrap_buffer + at, &size, sizeof size);
  return bootstrap_buffer + at + bootstrap_header;
}

void* bootstrap_calloc(std::size_t count, std::size_t size) noexcept {
  std::size_t whole = 0;
  return __builtin_mul_overflow(count, size, &whole) ? nullptr : bootstrap_malloc(whole);  // never used: zero
}

std::size_t bootstrap_size(const void* p) noexcept {
  std::size_t size = 0;
  memcpy(&size, static_cast<const char*>(p) - bootstrap_header, sizeof size);
  return size;
}

void* bootstrap_realloc(void* p, std::size_t size) noexcept {
  void* moved = bootstrap_malloc(size);
  if (moved != nullptr && p != nullptr && is_bootstrap(p)) {
    const std::size_t old = bootstrap_size(p);
    memcpy(moved, p, old < size ? old : size);
  }
  return moved;
}

// Looking symbols up needs no other entry point.
void bootstrap_free(void*) noexcept {}
constexpr real_functions bootstrap_functions = {
    .malloc = bootstrap_malloc,
    .calloc = bootstrap_calloc,
    .realloc = bootstrap_realloc,
    .reallocarray = [](void*, std::size_t, std::size_t) noexcept -> void* { return nullptr; },
    .free = bootstrap_free,
    .posix_memalign = [](void**, std::size_t, std::size_t) noexcept -> int { return ENOMEM; },
    .aligned_alloc = [](std::size_t, std::size_t) noexcept -> void* { return nullptr; },
    .memalign = [](std::size_t, std::size_t) noexcept -> void* { return nullptr; },
    .valloc = [](std::size_t) noexcept -> void* { return nullptr; },
    .pvalloc = [](std::size_t) noexcept -> void* { return nullptr; },
};

template <class Function>
void find(Function*& where, const char* name) noexcept {
  if (void* found = dlsym(RTLD_NEXT, name)) where = reinterpret_cast<Function*>(found);
}

// The first call of any entry point: finds the functions, then is an ordinary call.
template <auto Member>
struct first_call;
template <class Result, class... Arguments, Result (*real_functions::*Member)(Arguments...) noexcept>
struct first_call<Member> {
  static Result run(Arguments... arguments) noexcept {
    find_real_functions();
    return (real.*Member)(arguments...);
  }
};

std::atomic<bool> looked_up{false};

}  // namespace

constinit real_functions real = {
    .malloc = first_call<&real_functions::malloc>::run,
    .calloc = first_call<&real_functions::calloc>::run,
    .realloc = first_call<&real_functions::realloc>::run,
    .reallocarray = first_call<&real_functions::reallocarray>::run,
    .free = first_call<&real_functions::free>::run,
    .posix_memalign = first_call<&real_functions::posix_memalign>::run,
    .aligned_alloc = first_call<&real_functions::aligned_alloc>::run,
    .memalign = first_call<&real_functions::memalign>::run,
    .valloc = first_call<&real_functions::valloc>::run,
    .pvalloc = first_call<&real_functions::pvalloc>::run,
};

void find_real_functions() noexcept {
  if (looked_up.load(std::memory_order_relaxed) || looked_up.exchange(true)) return;
  real = bootstrap_functions;
  real_functions found = bootstrap_functions;
  find(found.malloc, "malloc");
  find(found.calloc, "calloc");
  find(found.realloc, "realloc");
  find(found.reallocarray, "reallocarray");
  find(found.free, "free");
  find(found.posix_memalign, "posix_memalign");
  find(found.aligned_alloc, "aligned_alloc");
  find(found.memalign, "memalign");
  find(found.valloc, "valloc");
  find(found.pvalloc, "pvalloc");
  real = found;
}

void* move_out_of_bootstrap(const void* p, std::size_t size) noexcept {
  void* moved = real.malloc(size);
  const std::size_t old = bootstrap_size(p);
  if (moved != nullptr) memcpy(moved, p, old < size ? old : size);
  return moved;
}

}  // namespace mallard::recorder
