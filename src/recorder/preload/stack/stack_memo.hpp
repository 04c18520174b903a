// stack_memo: the context of a whole stack, without unwinding it where that was done before.
//
//     (return address, sp) --hash--> the words that the walk of last time read, and their values
//       with the words by which such stacks differed before
//     every one has its value still?  --yes-->  the same stack: its context
//                                     --no--->  walk, until it meets the last stack (last_stack.hpp)
//
// A walk is a function of its start and of the words that it reads. If those are the same, so is its result,
// whatever the program did in between. So a hit is as exact as a walk, and costs a load and a comparison a
// word. Where one function allocates for many callers, as xmalloc does, their stacks have one start: then the
// first word that differed counts as well, and one more where that is not enough. It has to lie in the page
// of the start: what is further outside may be gone, where stacks come and go. Stacks of many words are not
// remembered here: of those the last one alone is compared. When a module is unloaded, all is forgotten,
// and the contexts with it: those of a module that takes its place are others.
// Memory: at most 1024 remembered stacks a ring, each 0.3 KB up to 16 words and twice that for twice as many.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mallard/core/attributes.hpp"
#include "recorder/preload/stack/context_tree.hpp"
#include "recorder/preload/stack/last_stack.hpp"
#include "recorder/preload/stack/open_scopes.hpp"
#include "recorder/preload/state/recorder_state.hpp"
#include "unwind/frame_rule.hpp"

namespace mallard::recorder {

class stack_memo {
 public:
  // The context of the stack from `start` outwards. Precondition: start.sp lies in `stack`.
  [[nodiscard]] MALLARD_INLINE std::uint32_t context_of(context_tree& contexts, const walk_start& start,
                                                        const stack_range& stack) noexcept {
    if (generation_ == state.module_generation.load(std::memory_order_relaxed) + 1) [[likely]] {
      const walk* known = walks_[index_of(start)];
      if (known != nullptr && still_holds(*known, start, stack)) [[likely]]
        return known->context;
    }
    return walk_anew(contexts, start, stack);
  }

  // The same with the open scopes between the frames outside and inside of them.
  [[nodiscard]] std::uint32_t context_in(const open_scopes& scopes, context_tree& contexts,
                                         const walk_start& start, const stack_range& stack) noexcept;

  void clear() noexcept;

 private:
  static constexpr std::size_t remembered = 1024;  // walks; a power of two
  static constexpr std::size_t sizes = 3;          // of walks: room for 16, 32, 64 words
  static constexpr std::uint32_t least_capacity = 16;
  static constexpr std::uint32_t most_capacity = least_capacity << (sizes - 1);

  struct walk {
    walk_start start;
    std::uintptr_t stack_end;
    std::uint32_t context;
    std::uint32_t capacity;  // words that there is room for
    const word_read* end;    // of the words, which stand behind this
    bool bp_matters;         // the frame pointer at the start
    walk* next_unused;       // while it is unused

    [[nodiscard]] const word_read* words() const noexcept {
      return reinterpret_cast<const word_read*>(this + 1);
    }
  };

  // Where stacks of one start differed; 0: nowhere. Of any start with the same hash.
  struct difference {
    std::uintptr_t addresses[2];
  };

  [[nodiscard]] MALLARD_INLINE static std::size_t place_of(std::uint64_t mixed) noexcept {
    return static_cast<std::size_t>(mixed >> 40) & (remembered - 1);
  }

  [[nodiscard]] MALLARD_INLINE static std::uint64_t hash(const walk_start& start) noexcept {
    return start.return_address * 0x9e3779b97f4a7c15u ^ start.sp * 0xff51afd7ed558ccdu;
  }

  [[nodiscard]] MALLARD_INLINE static bool is_on_the_page_of(const walk_start& start,
                                                             std::uintptr_t address) noexcept {
    return (address ^ start.sp) < journal::spool_page;
  }

  // Precondition: what is remembered has been prepared.
  [[nodiscard]] MALLARD_INLINE std::size_t index_of(const walk_start& start) const noexcept {
    std::uint64_t mixed = hash(start);
    for (const std::uintptr_t address : differences_[place_of(mixed)].addresses)
      if (is_on_the_page_of(start, address)) mixed += word_at(address) * 0x9e3779b97f4a7c15u;
    return place_of(mixed);
  }

  [[nodiscard]] MALLARD_INLINE static bool still_holds(const walk& known, const walk_start& start,
                                                       const stack_range& stack) noexcept {
    if (known.start.return_address != start.return_address || known.start.sp != start.sp ||
        known.stack_end != stack.end)
      return false;
    if (known.bp_matters && known.start.bp != start.bp) return false;
    const word_read* const end = known.end;
    for (const word_read* each = known.words(); each != end; ++each)
      if (word_at(each->address) != each->value) return false;
    return true;
  }

  std::uint32_t walk_anew(context_tree& contexts, walk_start start, const stack_range& stack) noexcept;
  void tell_apart(const walk_start& start, const stack_range& stack) noexcept;
  [[nodiscard]] walk* room_for(std::size_t index, std::uint32_t words) noexcept;
  walk* make_walk(std::uint32_t capacity) noexcept;
  void recycle(walk* old) noexcept;
  void remember(const walk_start& start, const stack_range& stack, std::uint32_t context) noexcept;
  bool prepare(context_tree& contexts) noexcept;
  [[nodiscard]] bool take(context_tree& contexts, spool_header* spool, const walk_start& start,
                          const stack_range& stack) noexcept;

  last_stack last_;
  walk** walks_;             // by index_of; null: none yet
  difference* differences_;  // by place_of
  walk* unused_[sizes];
  char* room_;  // for walks, what is left of it
  std::size_t room_left_;
  std::uint32_t generation_;  // of the modules that the walks went through, and one; 0: nothing is prepared
};

}  // namespace mallard::recorder
