// Calls whose context a plan is asked for: from the caller's return address to a block of a pool.
//
//     malloc --jump--> routed_malloc --table--> rule --> this thread's pool, by number or by a word of the
//     stack
//                            |                               `-- a block at hand? that is all
//                            `--jump--> by a register: all that callers keep are saved first, so that C++
//                            sees them
//
// Each of them is entered and left by jumps, until it knows which pool. So the return address is the word
// above the stack pointer at entry, and registers that a callee must keep hold what the caller has left in
// them: in loops over containers the owner, mostly. Cost: 23 instructions beside the walk for a block at
// hand, 20 more where a register is the witness.
#include <cstddef>
#include <cstdint>

#include "mallard/core/attributes.hpp"
#include "malloc/bump_pool.hpp"
#include "malloc/routes.hpp"

// Where the return address of the function lies that this stands in.
#define MALLARD_RETURN_PLACE (static_cast<const std::uintptr_t*>(__builtin_dwarf_cfa()) - 1)

namespace mallard::malloc_library {
namespace {

std::uint32_t hash_of(std::uintptr_t word) noexcept {
  return static_cast<std::uint32_t>(word * 0x9e3779b97f4a7c15 >> 40);
}

// A frame of the walk, from the innermost one on.
const void* frame_at(const std::uintptr_t* at, std::uintptr_t end, std::uint32_t number) noexcept {
  const void* found = nullptr;
  std::uint32_t passed = 0;
  (void)the_plan.table.find(at, end, [&](const std::uintptr_t* here) {
    if (passed++ == number) found = here;
  });
  return found;
}

// A block of a pool, or of the default heap where that has none. `frame`: of a region.
void* take(const route& r, std::uint32_t number, std::size_t size, const void* frame) noexcept {
  void* block = nullptr;
  const bool is_pooled = size <= r.largest && (r.how != 0 || !the_plan.default_is_libc) &&
                         (my_route.pools != nullptr || set_up_thread());
  segment_keeper* const from = is_pooled ? find_pool(number) : nullptr;
  if (from != nullptr) {
    block = has_bump(static_cast<strategy>(r.how))
                ? static_cast<bump_pool*>(from)->take(size, frame)
                : my_route.of_thread->allocate_from(*static_cast<heap::slabs*>(from),
                                                    heap::classes::index(size, 1));
  }
  if (the_plan.counts != nullptr) {
    count_hit(r, r.how != 0 && block == nullptr);
    if (const segment* const s = the_segments.find(block); block != nullptr)
      count_live(
          *s, static_cast<std::int64_t>(s->index == bump_pool::mixed ? bump_pool::size_of(block) : s->size));
  }
  return block != nullptr ? block : allocate_by_default(size);
}

using by_register = void*(std::size_t size, void* p, const route* r, call what);

}  // namespace

extern "C" [[gnu::visibility("hidden")]] void* mallard_take_by_register(std::size_t size, void* p,
                                                                        const route* r, call what,
                                                                        const std::uintptr_t* saved) {
  const std::uint32_t number = r->first_pool + (hash_of(saved[r->saved - 1]) & r->mask);
  if (size < r->limit_by_register && my_route.pools != nullptr)
    if (auto* const from = static_cast<heap::slabs*>(my_route.pools[number]); from != nullptr)
      if (void* const block = from->take_at_hand(size); block != nullptr)
        return what == call::malloc || what == call::make ? block : end_call(what, block, size, p);
  const std::uintptr_t* const at = saved + plan_image::registers;
  const void* const frame =
      r->frame == 0 ? nullptr : frame_at(at, my_route.stack_begin + my_route.stack_bytes, r->frame);
  return end_call(what, take(*r, number, size, frame), size, p);
}

// Saves the registers that callees keep, from r15 to rbx, below the return address.
#if defined(__x86_64__)
extern "C" [[gnu::visibility("hidden")]] by_register mallard_routed_by_register;
asm(R"(
  .text
  .p2align 4
  .globl mallard_routed_by_register
  .hidden mallard_routed_by_register
  .type mallard_routed_by_register, @function
mallard_routed_by_register:
  .cfi_startproc
  pushq %rbx
  .cfi_adjust_cfa_offset 8
  pushq %rbp
  .cfi_adjust_cfa_offset 8
  pushq %r12
  .cfi_adjust_cfa_offset 8
  pushq %r13
  .cfi_adjust_cfa_offset 8
  pushq %r14
  .cfi_adjust_cfa_offset 8
  pushq %r15
  .cfi_adjust_cfa_offset 8
  movq %rsp, %r8
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  call mallard_take_by_register
  addq $56, %rsp
  .cfi_adjust_cfa_offset -56
  ret
  .cfi_endproc
  .size mallard_routed_by_register, . - mallard_routed_by_register
)");
#else
static by_register* const mallard_routed_by_register = nullptr;
#endif

namespace {

bool is_on_stack(const std::uintptr_t* at) noexcept {
  return reinterpret_cast<std::uintptr_t>(at) - my_route.stack_begin < my_route.stack_bytes;
}

template <call What>
MALLARD_NOINLINE void* take_slowly(std::size_t size, void* p, const route* r) {
  if (r->saved != 0) return mallard_routed_by_register(size, p, r, What);
  const std::uintptr_t* const at = MALLARD_RETURN_PLACE;
  const bool has_words = is_on_stack(at);
  const std::uint32_t number = r->first_pool + (has_words ? hash_of(at[r->word]) & r->mask : 0);
  const void* const frame = r->frame == 0 || !has_words
                                ? nullptr
                                : frame_at(at, my_route.stack_begin + my_route.stack_bytes, r->frame);
  return end_call(What, take(*r, number, size, frame), size, p);
}

template <call What>
void* routed(std::size_t size, void* p);

// A thread's first call, or one on a stack that is not the thread's: no word of that is looked at.
template <call What>
MALLARD_NOINLINE void* take_off_stack(std::size_t size, void* p) {
  const std::uintptr_t* const at = MALLARD_RETURN_PLACE;
  if (my_route.pools == nullptr && set_up_thread() && is_on_stack(at)) return routed<What>(size, p);
  const auto end = reinterpret_cast<std::uintptr_t>(at + 1);
  const std::uint32_t rule = the_plan.table.find(at, end, [](auto) {});
  return take_slowly<What>(size, p, &the_plan.routes[rule]);
}

template <call What>
MALLARD_INLINE void* take_at_hand(std::size_t size, void* p, const route& r, std::uint32_t number) {
  if (auto* const from = static_cast<heap::slabs*>(my_route.pools[number]); from != nullptr) [[likely]]
    if (void* const block = from->take_at_hand(size); block != nullptr) [[likely]]
      return What == call::malloc || What == call::make ? block : end_call(What, block, size, p);
  return take_slowly<What>(size, p, &r);
}

template <call What>
MALLARD_NOINLINE void* take_by_word(std::size_t size, void* p, const route* r) {
  return take_at_hand<What>(size, p, *r, r->first_pool + (hash_of(MALLARD_RETURN_PLACE[r->word]) & r->mask));
}

template <call What>
MALLARD_INLINE void* routed(std::size_t size, void* p, const std::uintptr_t* at) {
  const std::uintptr_t begin = my_route.stack_begin;
  const std::uintptr_t bytes = my_route.stack_bytes;
  if (reinterpret_cast<std::uintptr_t>(at) - begin >= bytes) [[unlikely]]
    return take_off_stack<What>(size, p);
  const std::uint32_t rule = the_plan.table.find(at, begin + bytes, [](auto) {});
  const plan_in_force* plan = &the_plan;
  asm("" : "+r"(plan));
  const route& r = plan->routes[rule];
  if (size >= r.limit) [[unlikely]]
    return take_slowly<What>(size, p, &r);
  if (r.mask != 0) return take_by_word<What>(size, p, &r);
  return take_at_hand<What>(size, p, r, r.first_pool);
}

template <call What>
MALLARD_NOINLINE void* routed(std::size_t size, void* p) {
  return routed<What>(size, p, MALLARD_RETURN_PLACE);
}

}  // namespace

void* routed_malloc(std::size_t size) noexcept {
  return routed<call::malloc>(size, nullptr, MALLARD_RETURN_PLACE);
}
void* routed_new(std::size_t size) { return routed<call::make>(size, nullptr, MALLARD_RETURN_PLACE); }
void* routed_nothrow(std::size_t size, const void* tag) noexcept {
  return routed<call::make_nothrow>(size, const_cast<void*>(tag), MALLARD_RETURN_PLACE);
}
void* routed_calloc(std::size_t size) noexcept {
  return routed<call::calloc>(size, nullptr, MALLARD_RETURN_PLACE);
}
void* routed_realloc(std::size_t size, void* p) noexcept {
  return routed<call::realloc>(size, p, MALLARD_RETURN_PLACE);
}

}  // namespace mallard::malloc_library
