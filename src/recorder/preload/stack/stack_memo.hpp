// stack_memo: the context of a whole stack, without unwinding it where that was done before.
//
//     (return address, sp) --hash--> the walk of last time:  slot of frame 1, its return address
//                                                            slot of frame 2, its return address ...
//     every word that the walk read has its value still?  --yes-->  the same stack: its context
//                                                         --no--->  walk, until it meets the last stack
//
// A walk is a function of its start and of the words that it reads (return addresses, and saved frame
// pointers where a frame needs them). If those are the same, so is its result, whatever the program did in
// between. So a hit is as exact as a walk, and costs a load and a comparison a frame. A new walk follows the
// rules of the functions (rule_cache.hpp), some ns a frame, up to the first frame that it has in common with
// the previous stack, whose outer part is then checked the same way. When a module is unloaded, all walks are
// forgotten. Memory: at most 1024 remembered stacks a ring, each 0.8 KB up to 16 frames and twice that for
// twice as many.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mallard/core/attributes.hpp"
#include "recorder/preload/stack/context_tree.hpp"
#include "recorder/preload/stack/open_scopes.hpp"
#include "recorder/preload/state/recorder_state.hpp"
#include "recorder/preload/unwind/frame_rule.hpp"

namespace mallard::recorder {

// Where a walk starts: right after a call has returned.
struct walk_start {
  std::uintptr_t return_address;
  std::uintptr_t sp;
  std::uintptr_t bp;
};

class stack_memo {
 public:
  // The context of the innermost frames. Precondition: start.sp lies in `stack`.
  [[nodiscard]] MALLARD_INLINE std::uint32_t context_of(context_tree& contexts, const walk_start& start,
                                                        const stack_range& stack) noexcept {
    if (generation_ == state.module_generation.load(std::memory_order_relaxed) + 1) [[likely]] {
      walk* known = walks_[index_of(start)];
      if (known != nullptr && still_holds(*known, start, stack)) [[likely]] {
        last_ = known;
        return known->context;
      }
    }
    return walk_anew(contexts, start, stack);
  }

  // The same with the open scopes between the frames outside and inside of them.
  [[nodiscard]] std::uint32_t context_in(const open_scopes& scopes, context_tree& contexts,
                                         const walk_start& start, const stack_range& stack) noexcept;

  void clear() noexcept;

 private:
  static constexpr std::size_t remembered = 1024;  // walks; a power of two

  struct frame {
    std::uint32_t distance;  // bytes from the start's sp to where the return address stands
    std::uint32_t context;
    std::uintptr_t return_address;
  };
  struct other_word {  // that the walk read
    std::uint32_t distance;
    std::uint32_t frame;  // whose caller it led to
    std::uintptr_t value;
  };
  struct walk {
    walk_start start;
    std::uintptr_t stack_end;
    std::uint32_t context;
    std::uint32_t context_in_scopes;  // of the scopes with this key
    std::uint64_t scopes_key;         // 0: not known of any
    std::uint32_t depth;              // frames
    std::uint32_t other_words;        // in the order of their frames
    std::uint32_t capacity;           // frames, and other words, that there is room for
    bool complete;                    // ended because there was no further frame, not for its depth
    bool bp_matters;                  // the frame pointer at the start
    walk* next_unused;                // while it stands for nothing
    frame* frames;                    // frames[0] is the start itself
    other_word* others;
    std::uintptr_t* bps;             // frame pointer in each frame
    std::uint64_t* bp_matters_from;  // a bit for each frame: what follows depends on its frame pointer
  };
  struct steps_taken;
  class walker;

  [[nodiscard]] MALLARD_INLINE static std::size_t index_of(const walk_start& start) noexcept {
    const std::uint64_t mixed = start.return_address * 0x9e3779b97f4a7c15u ^ start.sp * 0xff51afd7ed558ccdu;
    return static_cast<std::size_t>(mixed >> 40) & (remembered - 1);
  }

  [[nodiscard]] MALLARD_INLINE static std::uintptr_t word_at(std::uintptr_t address) noexcept {
    return *reinterpret_cast<const volatile std::uintptr_t*>(address);
  }

  [[nodiscard]] MALLARD_INLINE static bool still_holds(const walk& known, const walk_start& start,
                                                       const stack_range& stack) noexcept {
    if (known.start.return_address != start.return_address || known.start.sp != start.sp ||
        known.stack_end != stack.end)
      return false;
    if (known.bp_matters && known.start.bp != start.bp) return false;
    for (std::uint32_t i = 1; i < known.depth; ++i)
      if (word_at(start.sp + known.frames[i].distance) != known.frames[i].return_address) return false;
    for (std::uint32_t i = 0; i < known.other_words; ++i)
      if (word_at(start.sp + known.others[i].distance) != known.others[i].value) return false;
    return true;
  }

  std::uint32_t walk_anew(context_tree& contexts, walk_start start, const stack_range& stack) noexcept;
  static std::size_t bytes_for(std::uint32_t capacity) noexcept;
  static walk* lay_out(void* room, std::uint32_t capacity) noexcept;
  walk* make_walk(std::uint32_t capacity) noexcept;
  void recycle(walk* old) noexcept;
  void keep(const walk& made) noexcept;
  bool prepare() noexcept;

  static constexpr std::size_t sizes = 6;  // of walks: room for 16, 32, ... 512 frames

  walk** walks_;  // by index_of; null: none yet
  walk* made_;    // the walk that is under way, with room for the longest
  walk* last_;    // of the event before, among those kept
  walk* unused_[sizes];
  steps_taken* steps_;
  char* room_;  // for walks, what is left of it
  std::size_t room_left_;
  std::uint32_t generation_;  // of the modules that the walks went through, and one; 0: nothing is prepared
};

}  // namespace mallard::recorder
