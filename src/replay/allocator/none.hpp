// none: the baseline. Hands out places that were computed beforehand, in one mapping.
//
// What a pass costs with it is the cost of replaying: it is subtracted from the others' times. The
// mapping is the harness's own memory, outside the limit on allocators, and is faulted in by a pass
// before the first one counts. Frees do nothing; no reallocation moves. 3 instructions a block.
#pragma once

#include "harness/mapping.hpp"
#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "replay/trace/trace.hpp"

namespace mallard::replay {

class none {
 public:
  static constexpr bool starts_warm = true;

  explicit none(const trace& t)
      : memory_(t.facts().places_bytes + t.facts().max_align, harness::fill::at_first_touch),
        base_(static_cast<std::byte*>(memory_.data()) + padding_for(memory_.data(), t.facts().max_align)),
        places_(t.places().data()),
        next_(places_) {}

  MALLARD_INLINE void* allocate(const op&) { return next(); }
  MALLARD_INLINE void* allocate_aligned(const op&) { return next(); }
  MALLARD_INLINE void deallocate(void*, const op&) {}
  MALLARD_INLINE void* reallocate(void* p, const op&, const op&) { return p; }
  void end_pass() { next_ = places_; }

  // The next block, of whatever is replayed.
  MALLARD_INLINE void* next() { return base_ + *next_++; }

  [[nodiscard]] std::size_t held() const { return memory_.size(); }
  [[nodiscard]] std::size_t max_held() const { return memory_.size(); }

 private:
  harness::scratch memory_;
  std::byte* base_;
  const std::uint64_t* places_;
  const std::uint64_t* next_;
};

}  // namespace mallard::replay
