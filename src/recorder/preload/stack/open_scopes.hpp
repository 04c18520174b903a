// open_scopes: the annotated scopes that a thread is in, outermost first.
//
//     chain   ["parser" frame 0x..f0] ["lexer" frame 0x..80]    stack addresses fall inwards
//     stack   ... | f0 |  return address  ... | 80 | return address ... | sp of a call |
//                  parser's function             lexer's function
//
// A scope is known by the frame of the function that began it and by where its name stands in the spool.
// It stands in a calling context between two return addresses: those in slots below `frame` are inside
// of it, those above are outside. A scope whose frame lies below the stack pointer that a caller has after
// its call is over, however its function was left: open_at(sp) drops it and returns how many are open.
// Equal chains have equal keys, and a change of the chain changes the key. A remembered context is valid for
// the key that was current after open_at.
#pragma once

#include <cstdint>

#include "mallard/core/attributes.hpp"

namespace mallard::recorder {

struct open_scope {
  std::uintptr_t frame;  // as __builtin_frame_address of the function that began it
  std::uintptr_t begun;  // where it was begun: a return address
  std::uint64_t place;   // of a context_entry; 0: there was no room for its name
  std::uint64_t key;     // of the chain up to and with this one
};

struct open_scopes {
  static constexpr std::uint32_t most = 64;

  MALLARD_INLINE std::uint32_t open_at(std::uintptr_t sp) noexcept {
    while (count != 0 && chain[count - 1].frame < sp) --count;
    return count;
  }

  // Of the whole chain; 0 if no scope is open.
  [[nodiscard]] MALLARD_INLINE std::uint64_t key() const noexcept { return key_of(count); }

  // Of the outermost ones.
  [[nodiscard]] MALLARD_INLINE std::uint64_t key_of(std::uint32_t outermost) const noexcept {
    return outermost == 0 ? 0 : chain[outermost - 1].key;
  }

  std::uint32_t count;
  open_scope chain[most];
};

}  // namespace mallard::recorder
