// bump_pool: blocks of any size one after the other, in segments that are used again when nothing lives
// there.
//
//     segment  [ |n|block |n|block      |n|block| ... untouched ]     n: bytes of the block, 8 bytes before
//     it
//                              `-- left: blocks alive; 0: from the begin again, or back to the segments
//
// monotonic   a segment is carved on until it is full; what is freed is not reused before all of it is.
// region      the same, but where the frame that it ends with is another one, a new segment begins. What has
//             outlived the last one stays valid, and holds its segments until it is freed.
// reap        a region that serves from what was freed inside it, by size, first. Its segments stay with it
//             until the region ends, or no block of it is alive.
//
// The frame is known by where its return address lies: a second call of the same function from the same depth
// is the same region, which costs memory where blocks of the first one are alive. Its heap's thread uses it;
// others return blocks as those of slabs. Cost: 8 bytes and one store a block; O(1).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "malloc/heap_of_thread.hpp"
#include "malloc/plan_image.hpp"

namespace mallard::malloc_library {

constexpr bool has_bump(strategy how) noexcept {
  return how == strategy::monotonic || how == strategy::region || how == strategy::reap;
}

class bump_pool final : public segment_keeper {
 public:
  static constexpr std::uint32_t largest = 4096;  // bytes of a request
  static constexpr std::uint8_t mixed = 255;      // index of a segment whose blocks tell their sizes

  bump_pool(heap* of, std::uint32_t n, strategy how) noexcept : number(n), of_(of), how_(how) {}

  const std::uint32_t number;

  // Bytes of a block in such a segment.
  static std::size_t size_of(const void* p) noexcept { return static_cast<const std::uint64_t*>(p)[-1]; }

  // `frame`: where the return address lies that the region ends with; null for none. Null without memory.
  void* take(std::size_t size, const void* frame) noexcept {
    if (frame != frame_) {
      end_region();
      frame_ = frame;
    }
    const std::size_t step = std::max(align_up(size + header, default_align), least_step);
    if (how_ == strategy::reap)
      if (void* const p = reuse(step); p != nullptr) return p;
    if (step > room_ && !begin_segment()) return nullptr;
    std::byte* const p = at_;
    at_ += step;
    room_ -= step;
    reinterpret_cast<std::uint64_t*>(p)[-1] = step - header;
    if (current_->left++ == 0) ++busy_;
    return p;
  }

  void notice(segment& s) noexcept override {
    if (s.state == left_behind) return give(s);
    --busy_;
    if (how_ == strategy::reap && busy_ != 0) return;
    freed_.fill(nullptr);
    for (shared_segments::number n = segments_; n != 0;) {
      segment& other = *the_segments.at(n);
      n = other.older;
      if (&other != current_ && other.left == 0) give(other);
    }
    if (&s == current_) restart();
  }

 private:
  static constexpr std::size_t header = sizeof(std::uint64_t);
  static constexpr std::size_t least_step = 32;  // so that a block can be returned
  enum segment_state : std::uint8_t { kept, left_behind };
  struct freed {
    freed* next;
  };

  bool begin_segment() noexcept {
    of_->send_batch();
    of_->collect();
    if (current_ != nullptr && current_->left == 0) {
      freed_.fill(nullptr);  // some of that lies in it
      restart();
      return true;
    }
    segment* const s = the_segments.take(1, segment_use::slab);
    if (s == nullptr) return false;
    s->free = nullptr;
    s->left = 0;
    s->owner = of_;
    s->keeper = this;
    s->size = least_step - header;
    s->index = mixed;
    s->state = kept;
    the_segments.link(s, segments_);
    current_ = s;
    restart();
    return true;
  }

  void restart() noexcept {
    current_->free = nullptr;
    at_ = the_segments.start_of(current_) + default_align;
    room_ = shared_segments::segment_bytes - default_align + header;
  }

  void give(segment& s) noexcept {
    the_segments.unlink(&s, segments_);
    the_segments.give_back(&s, 1);
  }

  // What is alive holds its segments from now on, and nothing else does.
  void end_region() noexcept {
    freed_.fill(nullptr);
    for (shared_segments::number n = segments_; n != 0;) {
      segment& s = *the_segments.at(n);
      n = s.older;
      if (s.left != 0)
        s.state = left_behind;
      else if (&s != current_)
        give(s);
    }
    busy_ = 0;
    if (current_ != nullptr && current_->left == 0) return restart();
    current_ = nullptr;
    room_ = 0;
  }

  // A block that was freed in this region, of the same size.
  void* reuse(std::size_t step) noexcept {
    freed*& list = freed_[step / default_align];
    if (list == nullptr) sort_freed();
    freed* const found = list;
    if (found == nullptr) return nullptr;
    list = found->next;
    if (the_segments.find(found)->left++ == 0) ++busy_;
    return found;
  }

  // Blocks that have been freed in the current segment, to the lists of their sizes.
  void sort_freed() noexcept {
    if (current_ == nullptr) return;
    for (void* p = std::exchange(current_->free, nullptr); p != nullptr;) {
      auto* const block = static_cast<freed*>(p);
      p = *static_cast<void**>(p);
      freed*& list = freed_[(size_of(block) + header) / default_align];
      block->next = std::exchange(list, block);
    }
  }

  heap* of_;
  strategy how_;
  const void* frame_ = nullptr;
  segment* current_ = nullptr;
  std::byte* at_ = nullptr;  // the next block
  std::size_t room_ = 0;     // bytes from its header on
  std::size_t busy_ = 0;     // segments of this region with blocks alive
  shared_segments::number segments_ = 0;
  std::array<freed*, (largest + 64) / default_align> freed_{};
};

}  // namespace mallard::malloc_library
