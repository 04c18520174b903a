// Calls whose context a plan is asked for: from the caller's return address to a block of a pool.
//
//     malloc --jump--> routed_malloc --table--> rule --> this thread's pool --> a block at hand, mostly
//                                                |
//                                                +--jump--> the word that is the witness --> pool of its hash
//                                                `--jump--> a pool that has to grow, or is to be made
//
// Each step is entered and left by a jump. So the return address is the word above the stack pointer at
// entry, and registers that a callee must keep hold what the caller has left in them: in loops over
// containers mostly the owner. Cost: 25 instructions beside the walk for a block at hand, 30 more with a
// witness.
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

// A frame of the walk, from the innermost one on, at whose return address a region ends.
const void* frame_at(const std::uintptr_t* at, std::uint32_t number) noexcept {
  const void* found = nullptr;
  std::uint32_t passed = 0;
  if (number != 0)
    (void)the_plan.table.find(at, my_route.stack.end_from(at), [&](const std::uintptr_t* here) {
      if (passed++ == number) found = here;
    });
  return found;
}

// A block of a pool, or of the default heap where that has none. `frame`: of a region.
void* take(const route& r, std::uint32_t number, std::size_t size, const void* frame) noexcept {
  void* block = nullptr;
  const bool is_pooled = size <= r.largest && (r.how != 0 || !the_plan.default_is_libc) &&
                         (my_route.of_thread != nullptr || set_up_thread());
  segment_keeper* const from = is_pooled ? find_pool(number) : nullptr;
  if (from != nullptr && has_bump(static_cast<strategy>(r.how))) {
    block = static_cast<bump_pool*>(from)->take(size, frame);
  } else if (from != nullptr) {
    block =
        my_route.of_thread->allocate_from(*static_cast<heap::slabs*>(from), heap::classes::index(size, 1));
    if (number != the_plan.pools && size <= heap::small && block != nullptr)
      static_cast<pool*>(from)->remember(size);
    if (--my_route.until_look == 0) {
      my_route.until_look = refills_between_looks;
      give_sparse_pages(my_route.of_thread);
    }
  }
  if (the_plan.counts != nullptr) {
    count_hit(r, r.how != 0 && block == nullptr);
    if (const segment* const s = the_segments.find_part(block); block != nullptr)
      count_live(
          *s, static_cast<std::int64_t>(s->index == bump_pool::mixed ? bump_pool::size_of(block) : s->size));
  }
  return block != nullptr ? block : allocate_by_default(size);
}

const route& route_of_call(const std::uintptr_t* at) noexcept;
void* take_otherwise(std::size_t size, void* p, const route* r, call what);

// The first call of a thread is looked at again when its stack is known.
MALLARD_NOINLINE void* take_again(std::size_t size, void* p, call what) {
  return take_otherwise(size, p, &route_of_call(MALLARD_RETURN_PLACE), what);
}

MALLARD_NOINLINE void* take_new(std::size_t size, void* p, const route* r, call what, std::uint32_t number) {
  if (my_route.of_thread == nullptr && set_up_thread()) return take_again(size, p, what);
  const void* const frame = frame_at(MALLARD_RETURN_PLACE, r->frame);
  return end_call(what, take(*r, number, size, frame), size, p);
}

// What the pool itself has at hand, for a size that it was not asked for last.
MALLARD_NOINLINE void* take_of_pool(std::size_t size, void* p, const route* r, call what,
                                    std::uint32_t number) {
  if (size < r->limit_by_word)
    if (segment_keeper* const there = my_route.pools[number]; there != &no_heap.own_slabs()) {
      auto* const from = static_cast<pool*>(there);
      if (void* const block = from->take_at_hand(size); block != nullptr) {
        from->remember(size);
        return what <= call::make ? block : end_call(what, block, size, p);
      }
    }
  return take_new(size, p, r, what, number);
}

}  // namespace

extern "C" {
[[gnu::visibility("hidden")]] void* mallard_take_by_word(std::size_t size, void* p, const route* r, call what,
                                                         std::uintptr_t word) {
  const std::uint32_t number = r->first_pool + (hash_of(word) & r->mask);
  if (size < r->limit_by_word) [[likely]]
    if (const remembered_slab& s = my_route.remembered[number]; s.serves(size)) [[likely]]
      if (void* const block = heap::slabs::take_from(*s.slab); block != nullptr) [[likely]]
        return what <= call::make ? block : end_call(what, block, size, p);
  return take_of_pool(size, p, r, what, number);
}

// Passes on the register that the rule names as the word. Each case has eight bytes.
[[gnu::visibility("hidden")]] void* mallard_take_by_register(std::size_t size, void* p, const route* r,
                                                             call what);
}
static_assert(offsetof(route, saved) == 25);
#if defined(__x86_64__)
asm(R"(
  .text
  .p2align 4
  .globl mallard_take_by_register
  .hidden mallard_take_by_register
  .type mallard_take_by_register, @function
mallard_take_by_register:
  .cfi_startproc
  movzbl 25(%rdx), %eax
  leaq .Lmallard_registers-8(%rip), %r8
  leaq (%r8,%rax,8), %rax
  jmp *%rax
  .p2align 3
.Lmallard_registers:
  movq %rbx, %r8
  jmp mallard_take_by_word
  .p2align 3
  movq %rbp, %r8
  jmp mallard_take_by_word
  .p2align 3
  movq %r12, %r8
  jmp mallard_take_by_word
  .p2align 3
  movq %r13, %r8
  jmp mallard_take_by_word
  .p2align 3
  movq %r14, %r8
  jmp mallard_take_by_word
  .p2align 3
  movq %r15, %r8
  jmp mallard_take_by_word
  .cfi_endproc
  .size mallard_take_by_register, . - mallard_take_by_register
)");
#else
void* mallard_take_by_register(std::size_t size, void* p, const route* r, call what) {
  return mallard_take_by_word(size, p, r, what, 0);
}
#endif

namespace {

// A stack that is not the thread's own is not looked at.
MALLARD_NOINLINE void* take_otherwise(std::size_t size, void* p, const route* r, call what) {
  if (r->saved != 0) return mallard_take_by_register(size, p, r, what);
  if (r->word == 0) return take_new(size, p, r, what, r->first_pool);
  const std::uintptr_t* const at = MALLARD_RETURN_PLACE;
  return mallard_take_by_word(size, p, r, what, at + r->word < my_route.stack.end_from(at) ? at[r->word] : 0);
}

MALLARD_INLINE const route& route_at(std::uintptr_t address) noexcept {
  return *reinterpret_cast<const route*>(address);
}
const route& route_of_call(const std::uintptr_t* at) noexcept {
  return route_at(the_plan.table.find(at, my_route.stack.end_from(at), [](auto) {}));
}

template <call What>
MALLARD_INLINE void* take_by_rule(std::size_t size, void* p, const route& r) {
  if (size < r.limit) [[likely]]
    if (void* const block = static_cast<heap::slabs*>(my_route.pools[r.first_pool])->take_at_hand(size);
        block != nullptr) [[likely]]
      return What <= call::make ? block : end_call(What, block, size, p);
  return take_otherwise(size, p, &r, What);
}

// Where the stack may end before a word that has to be looked at.
template <call What>
MALLARD_NOINLINE void* routed_on_short_stack(std::size_t size, void* p, const std::uintptr_t* at) {
  return take_by_rule<What>(size, p, route_of_call(at));
}

// Where the return address is not enough. A function of its own: inlined, it would have every call save
// registers.
template <call What>
MALLARD_NOINLINE void* routed_further(std::size_t size, void* p, std::uint64_t next) {
  const std::uintptr_t* const at = MALLARD_RETURN_PLACE;
  const std::uintptr_t found = the_plan.table.go_on(at, next, my_route.stack.end_from(at));
  if (found == 0) [[unlikely]]
    return routed_on_short_stack<What>(size, p, at);
  return take_by_rule<What>(size, p, route_at(found));
}

template <call What>
MALLARD_INLINE void* routed(std::size_t size, void* p, const std::uintptr_t* at) {
  const std::uint64_t next = the_plan.table.begin(*at);
  if (route_table::is_step(next)) return routed_further<What>(size, p, next);
  return take_by_rule<What>(size, p, route_at(next));
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
void* routed_posix_memalign(std::size_t size, void** out) noexcept {
  return routed<call::posix_memalign>(size, out, MALLARD_RETURN_PLACE);
}

}  // namespace mallard::malloc_library
