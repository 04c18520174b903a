// thread_none: the baseline of a trace of threads. Hands out places that were computed beforehand.
//
//     thread 0   places [ p p p p ]     each thread has its own, in the order in which it allocates
//     thread 1          [ p p ]         and each lane its own lines of memory
//
// As `none` is for one thread (allocator/none.hpp).
#pragma once

#include "harness/mapping.hpp"
#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "replay/trace/trace.hpp"

namespace mallard::replay {

class thread_none {
 public:
  static constexpr bool starts_warm = true;

  explicit thread_none(const trace& t)
      : memory_(t.facts().places_bytes + t.facts().max_align, harness::fill::at_first_touch),
        base_(static_cast<std::byte*>(memory_.data()) + padding_for(memory_.data(), t.facts().max_align)),
        places_(t.places().data()) {}

  void begin_thread(const thread_part& part) { next_ = places_ + part.first_place; }

  MALLARD_INLINE void* allocate(const op&) { return base_ + *next_++; }
  MALLARD_INLINE void* allocate_aligned(const op&) { return base_ + *next_++; }
  MALLARD_INLINE void deallocate(void*, const op&) {}
  MALLARD_INLINE void* reallocate(void* p, const op&, const op&) { return p; }
  void end_pass() {}

  [[nodiscard]] std::size_t held() const { return memory_.size(); }
  [[nodiscard]] std::size_t max_held() const { return memory_.size(); }

 private:
  static inline thread_local const std::uint64_t* next_ = nullptr;

  harness::scratch memory_;
  std::byte* base_;
  const std::uint64_t* places_;
};

}  // namespace mallard::replay
