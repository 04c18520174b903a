// routes: the plan in this process, and the pools of each thread that it gives blocks from.
//
//     MALLARD_MALLOC_PLAN --> image --build ids--> the_plan.table       filled again when a library is opened
//     thread 1: stack, pools [ |*| |*|...|own]      made when first used; a pool costs 24 bytes until then
//     thread 2: stack, pools [*| | | |...|own]
//
// A pool is a set of slabs beside those of its thread's heap, which owns all of them: a block is ended, and
// returned by other threads, as if there were no plan. The thread that takes over the heap of one that has
// ended takes over its pools. Without a plan nothing of this is touched: `at_hand_most` alone tells, which
// the entry points compare a size with in any case.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "mallard/core/attributes.hpp"
#include "malloc/heap_of_thread.hpp"
#include "malloc/plan_image.hpp"
#include "malloc/route_table.hpp"

namespace mallard::malloc_library {

// Bytes of the largest request that is served without a look at the plan: 0 with one.
[[gnu::visibility("hidden")]] extern std::size_t at_hand_most;

// A rule as the calls use it.
struct route {
  std::uint32_t limit = 0;  // requests below it are taken from a pool at once, if it has one at hand
  std::uint32_t first_pool = 0;
  std::uint32_t mask = 0;           // of the hash of the witness
  std::uint32_t word = 0;           // of the stack that is the witness, from the return address on; 0: none
  std::uint32_t largest = 0;        // bytes of a request that goes to a pool at all
  std::uint32_t limit_by_word = 0;  // as `limit`, where there is a witness
  std::uint8_t how = 0;
  std::uint8_t saved = 0;  // the register that is the witness, as an image has them; 0: none
  std::uint16_t frame = 0;
  std::uint32_t number = 0;
};
static_assert(sizeof(route) == 32);

// What a rule has counted, if somebody asks.
struct route_counts {
  std::atomic<std::uint64_t> hits, fallbacks;
  std::atomic<std::uint64_t> live, peak;  // bytes
  std::atomic<std::uint64_t> pools;
};

struct plan_in_force {
  route_table table;
  const route* routes = nullptr;
  std::uint32_t rules = 0;
  std::uint32_t pools = 0;  // a thread's heap itself is the pool of that number
  const std::uint32_t* rules_of_pools = nullptr;
  route_counts* counts = nullptr;  // null: nobody asks
  bool default_is_libc = false;
  bool has_parts = false;  // pools of many instances have slabs of a quarter of a segment
};
[[gnu::visibility("hidden")]] extern plan_in_force the_plan;
MALLARD_INLINE bool is_routed() noexcept { return the_plan.routes != nullptr; }

// Where the calling thread's stack lies, and its pools; nothing before its first routed call.
struct thread_stack {
  std::uintptr_t begin = 0;
  std::uintptr_t bytes = 0;

  // Where the words end that can be read from `p` on: there, if it is on another stack.
  [[nodiscard]] const std::uintptr_t* end_from(const std::uintptr_t* p) const noexcept {
    if (reinterpret_cast<std::uintptr_t>(p) - begin >= bytes) return p;
    return reinterpret_cast<const std::uintptr_t*>(begin + bytes);
  }
};
// A pool that there is not yet is one without a block at hand: that of no_heap.
[[gnu::visibility("hidden")]] extern segment_keeper* no_pools[plan_image::most_pools + 1];
[[gnu::visibility("hidden")]] extern remembered_slab nothing_remembered[plan_image::most_pools];
// Requests for which there was no block at hand, a page or so of new ones each, after which pages between the
// blocks of all pools are looked for.
constexpr std::uint32_t refills_between_looks = 8192;

struct thread_route {
  segment_keeper** pools = no_pools;
  remembered_slab* remembered = nothing_remembered;  // by number of the pool
  thread_stack stack;
  heap* of_thread = nullptr;
  std::uint32_t until_look = refills_between_looks;
};
[[gnu::visibility("hidden")]] extern __thread thread_route my_route
    __attribute__((tls_model("initial-exec")));

// Finds both; false where there is no memory, or the thread is about to end.
bool set_up_thread() noexcept;

// The calling thread's pool of a number, made if need be; null when there is no memory.
segment_keeper* find_pool(std::uint32_t number) noexcept;

// Counters, where they are requested: a call of a rule, which got no block of its pool; bytes of a block
// of a slab that was allocated, or freed if less than 0.
bool counts_wanted() noexcept;
void count_hit(const route& r, bool is_fallback) noexcept;
void count_live(const segment& s, std::int64_t bytes) noexcept;

// The ways of a call whose context the plan is asked for. To be called last of all in an entry point, by a
// jump: the caller's return address and registers are still where it has left them.
void* routed_malloc(std::size_t size) noexcept;
void* routed_new(std::size_t size);
void* routed_nothrow(std::size_t size, const void* tag) noexcept;
void* routed_calloc(std::size_t size) noexcept;
void* routed_realloc(std::size_t size, void* p) noexcept;
void* routed_posix_memalign(std::size_t size, void** out) noexcept;

// What those of malloc_entries.cpp do without a plan.
enum class call : std::uint32_t { malloc, make, calloc, realloc, make_nothrow, posix_memalign };
void* allocate_by_default(std::size_t size) noexcept;
void* end_call(call what, void* block, std::size_t size, void* p);
bool has_libc_malloc() noexcept;

}  // namespace mallard::malloc_library
