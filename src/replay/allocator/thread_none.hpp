// thread_none: the baseline of a trace of threads. Hands out places that were computed beforehand.
//
//     thread 0   places [ p p p p ]     each thread has its own, in the order in which it allocates
//     thread 1          [ p p ]         and each lane its own lines of memory
//
// As `none` is for one thread (allocator/none.hpp).
#pragma once

#include <algorithm>
#include <cstdint>

#include "harness/mapping.hpp"
#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "replay/trace/trace.hpp"

namespace mallard::replay {

class thread_none {
 public:
  static constexpr bool starts_warm = true;

  thread_none(const trace& t, std::uint64_t copies)
      : copy_bytes_(align_up(t.facts().places_bytes, std::max<std::uint64_t>(t.facts().max_align, 4096))),
        memory_(copies * copy_bytes_ + t.facts().max_align, harness::fill::at_first_touch),
        base_(static_cast<std::byte*>(memory_.data()) + padding_for(memory_.data(), t.facts().max_align)),
        places_(t.places().data()) {}

  void begin_thread(const thread_part& part, std::uint64_t copy) {
    next_ = places_ + part.first_place;
    here_ = base_ + copy * copy_bytes_;
  }

  MALLARD_INLINE void* allocate(const op&) { return here_ + *next_++; }
  MALLARD_INLINE void* allocate_aligned(const op&) { return here_ + *next_++; }
  MALLARD_INLINE void deallocate(void*, const op&) {}
  MALLARD_INLINE void* reallocate(void* p, const op&, const op&) { return p; }
  void end_pass() {}

  [[nodiscard]] std::size_t held() const { return memory_.size(); }
  [[nodiscard]] std::size_t max_held() const { return memory_.size(); }

 private:
  static inline thread_local const std::uint64_t* next_ = nullptr;
  static inline thread_local std::byte* here_ = nullptr;  // the memory of the thread's copy

  std::uint64_t copy_bytes_;
  harness::scratch memory_;
  std::byte* base_;
  const std::uint64_t* places_;
};

}  // namespace mallard::replay
