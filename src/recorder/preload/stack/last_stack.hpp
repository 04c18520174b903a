// last_stack: the stack that was walked last, frame by frame, and the calling context of each frame.
//
//     0: _start   1: main   2   3   4  | 5'  6'      outermost first, so that slots fall
//     <-- every word has its value --> | <-- walked, from inside outwards
//
// A walk is a function of its start and of the words that it reads (return addresses, and saved frame
// pointers where a frame needs them). So an outer part whose words have not changed is the same stack,
// whatever the program did in between. walk() follows the rules of the functions (rule_cache.hpp) from inside
// outwards up to a frame that was in the same place before, and compares the words from there outwards: in
// the order of a walk, for what is outside of a word that differs may be gone with another stack. Cost: a
// load and a comparison a frame that is known, some ns and a probe of the context tree a frame that is new;
// no frame that stays is copied.
//
// Stacks of up to `deepest_stack` frames are whole. A deeper one may be cut, to no fewer than its innermost
// `deepest_stack` frames: what is kept of it is at most three times as many, and when it outgrows that, the
// outermost `deepest_stack` go. So a deep recursion shares its outer frames from event to event, and an event
// in it costs no more than the frames that are kept. Memory: 90 KiB for stacks of up to 192 frames, and
// twice as much for each doubling, up to 1.8 MiB.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mallard/core/attributes.hpp"
#include "recorder/preload/stack/context_tree.hpp"
#include "recorder/preload/stack/open_scopes.hpp"
#include "unwind/frame_rule.hpp"

namespace mallard::recorder {

using unwind::stack_range;
using unwind::walk_start;
using unwind::word_at;
using unwind::word_read;

class last_stack {
 public:
  struct frame {
    std::uintptr_t slot;  // where the return address stands
    std::uintptr_t return_address;
    std::uintptr_t bp;             // frame pointer in it
    std::uint32_t context;         // of the whole stack up to here, once it is named
    std::uint32_t words_end : 30;  // of other_words(): those of this frame and of the ones outside end here
    std::uint32_t bp_matters : 1;  // what is outside depends on the frame pointer
    std::uint32_t pc_is_exact : 1;
  };

  // Makes this the stack from `start` outwards; false if there is no memory for it. Precondition: start.sp
  // lies in `stack`.
  [[nodiscard]] bool walk(const walk_start& start, const stack_range& stack) noexcept;

  // Its context; with at most `depth` frames, the innermost ones, unless that is 0.
  [[nodiscard]] std::uint32_t context(context_tree& contexts, spool_header* spool,
                                      std::uint32_t depth) noexcept;

  // The same with the open scopes between the frames outside and inside of them.
  [[nodiscard]] std::uint32_t context_in(const open_scopes& scopes, context_tree& contexts,
                                         spool_header* spool, std::uint32_t depth) noexcept;

  // Forgets the stack and the rules of functions: a module has gone, or contexts stand in another spool.
  void clear() noexcept;

  [[nodiscard]] std::uint32_t depth() const noexcept { return depth_; }
  [[nodiscard]] const frame* frames() const noexcept { return memory_->frames; }
  [[nodiscard]] std::uint32_t other_words() const noexcept { return words_; }
  // Those that the walk read in addition to the return addresses.
  [[nodiscard]] const word_read* others() const noexcept { return memory_->words; }
  [[nodiscard]] bool has_all_words() const noexcept { return has_all_words_; }  // none was one too many

 private:
  static constexpr std::uint32_t most_frames = 3 * deepest_stack;
  static constexpr std::uint32_t frames_at_first = most_frames / 32;  // that there is room for

  // A frame on the way from inside outwards.
  struct step {
    std::uintptr_t slot;
    std::uintptr_t pc;
    std::uintptr_t bp;
    std::uintptr_t bp_slot;     // where the caller's frame pointer was read; 0: nowhere
    std::uint32_t words_begin;  // of `read`
    bool pc_is_exact;
    bool uses_bp;   // its caller was found by it
    bool keeps_bp;  // it is the caller's, too
  };
  // The rule of a return address: those of some thousand frames close together, which rule_cache has apart.
  struct known_rule {
    std::uintptr_t return_address;
    unwind::frame_rule rule;
  };
  static constexpr unsigned rule_bits = 11;
  // The arrays lie behind it.
  struct memory {
    known_rule rules[std::size_t{1} << rule_bits];
    std::uint32_t most;            // frames that one walk may step through
    std::uint32_t words_of_steps;  // that it may read meanwhile
    std::uint32_t all_words;
    frame* frames;  // twice as many as `most`: those that stay as well
    step* steps;
    word_read* words;
    word_read* read;  // by the steps
  };
  class walker;

  [[nodiscard]] bool grow() noexcept;

  [[nodiscard]] std::uint32_t holds_from(std::uint32_t inner) const noexcept;
  void drop() noexcept;
  void keep(std::uint32_t frames) noexcept;
  void add(const step& inner, const word_read* read, std::uint32_t count) noexcept;
  void cut() noexcept;
  void name(context_tree& contexts, spool_header* spool) noexcept;
  [[nodiscard]] std::uint32_t offset_of(std::uint32_t i) const noexcept;

  memory* memory_;
  std::uintptr_t stack_end_;
  std::uint32_t depth_;  // frames
  std::uint32_t named_;  // of which the outermost have a context
  std::uint32_t words_;
  bool is_whole_;  // there is nothing outside
  bool has_all_words_;
  bool is_complete_;  // the last walk came to its end
  std::uint32_t context_in_scopes_;
  std::uint64_t scopes_key_;  // of which that is; 0: not known of any
};

}  // namespace mallard::recorder
