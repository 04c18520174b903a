// none, thread_none, region_none: the baseline of a trace of blocks, of threads, of regions. Hands out places
// that were computed beforehand, in one mapping.
//
// What a pass costs with it is the cost of replaying: it is subtracted from the others' times. The
// mapping is the harness's own memory, outside the limit on allocators, and is faulted in by a pass
// before the first one counts. Frees do nothing; no reallocation moves. 3 instructions a block.
#pragma once

#include <algorithm>
#include <cstdint>

#include "harness/mapping.hpp"
#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "replay/trace/op.hpp"
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

// thread_none: of threads.
//
//     thread 0   places [ p p p p ]     each thread has its own, in the order in which it allocates
//     thread 1          [ p p ]         and each lane its own lines of memory
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

// region_none: of regions, which are nothing; their blocks are places.
class region_none {
 public:
  static constexpr bool starts_warm = true;
  static constexpr bool clear_ends_children = true;
  static constexpr bool destroy_ends_children = true;

  explicit region_none(const trace& t) : places_(t) {}

  MALLARD_INLINE bool create(std::uint32_t, std::uint32_t) { return true; }
  MALLARD_INLINE void* allocate(const region_op&) { return places_.next(); }
  MALLARD_INLINE void deallocate(void*, const region_op&) {}
  MALLARD_INLINE void clear(std::uint32_t) {}
  MALLARD_INLINE void destroy(std::uint32_t) {}
  void end_pass() { places_.end_pass(); }

  [[nodiscard]] std::size_t held() const { return places_.held(); }
  [[nodiscard]] std::size_t max_held() const { return places_.max_held(); }

 private:
  none places_;
};

}  // namespace mallard::replay
