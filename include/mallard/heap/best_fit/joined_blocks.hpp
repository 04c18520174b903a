// joined_blocks: blocks with boundary tags, split from free ones and coalesced with free neighbours.
//
//     carve   [ free ............................ ]  -->  [ used ][ free ................... ]
//     give    [ free ][ used ][ free ][ used ]       -->  [ free ................ ][ used ]
//     rest    [ used ][ used ][ rest ............... ]    what small blocks are carved from, one by one
//
// A small request is carved from the smallest sufficient small free block. If there is none, it is carved
// from the rest block; when that is used up, the smallest large block becomes the rest. A large block that
// becomes free and is smaller than the rest replaces it, so untouched memory is used last. A remainder below
// `least` bytes stays with the carved block. The rest counts as used: blocks freed beside it are merged with
// it when it is given up.
// Invariants: no two free blocks are neighbours; all free blocks are in free_blocks. Cost: O(1) for a small
// block, O(log size) for a large one. Not synchronised. Seed 001, chapter 1.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include "mallard/core/attributes.hpp"
#include "mallard/core/boundary_tag.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/heap/best_fit/free_blocks.hpp"

namespace mallard {

class joined_blocks {
 public:
  joined_blocks() noexcept { nothing_.set_used(0); }
  joined_blocks(const joined_blocks&) = delete;
  joined_blocks& operator=(const joined_blocks&) = delete;

  // Drops all blocks.
  void clear() noexcept {
    free_.clear();
    rest_ = &nothing_;
  }

  [[nodiscard]] std::size_t idle() const noexcept { return free_.idle(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return free_.bytes(); }

  // The rest; of size 0 if there is none.
  [[nodiscard]] const boundary_tag* rest() const noexcept { return rest_; }

  // How many blocks of `size` bytes can be carved from it, leaving at least one more block.
  [[nodiscard]] std::size_t rest_holds(std::size_t size) const noexcept {
    return (std::max(rest_->size(), boundary_tag::least) - boundary_tag::least) / size;
  }

  // --- carving --------------------------------------------------------------------------------

  // A small block of exactly `size` bytes from the rest; null unless the rest has room for that and another
  // block.
  [[nodiscard]] MALLARD_INLINE boundary_tag* take_from_rest(std::size_t size) noexcept {
    boundary_tag* const b = rest_;
    const std::size_t whole = b->size();
    if (whole < size + boundary_tag::least) return nullptr;
    b->resize(size);
    rest_ = b->at(size);
    rest_->set_used(whole - size);
    return b;
  }

  // A block of `size` bytes or one granule more; null if there is none.
  [[nodiscard]] boundary_tag* carve(std::size_t size) noexcept {
    if (size < free_blocks::small) {
      if (boundary_tag* const b = free_.small_at_least(size); b != nullptr) return carve_small(b, size);
      if (boundary_tag* const b = take_from_rest(size); b != nullptr) return b;
    }
    return carve_large(size);
  }

  // The smallest free block of at least `size` bytes, except the rest; null if there is none.
  [[nodiscard]] boundary_tag* at_least(std::size_t size) noexcept { return free_.at_least(size); }

  // A block of `size` bytes or one granule more, `front` bytes behind the start of a free block;
  // precondition: `front` is 0 or a block's size, and everything fits.
  [[nodiscard]] boundary_tag* carve_at(boundary_tag* whole, std::size_t front, std::size_t size) noexcept {
    const std::size_t left = whole->size() - front;
    free_.remove(whole, front + left);
    boundary_tag* const carved = whole->at(front);
    const bool all = left - size < boundary_tag::least;
    carved->set_used(all ? left : size);
    if (front != 0) {
      carved->mark_previous_free();
      whole->set_free(front);
      free_.put(whole, front);
    }
    if (all)
      carved->next()->mark_previous_used();
    else
      make_free(carved->next(), left - size);
    return carved;
  }

  // --- giving back ----------------------------------------------------------------------------

  // Frees a block if it is small together with its free neighbours; otherwise changes nothing.
  [[nodiscard]] MALLARD_INLINE bool give_small(boundary_tag* b) noexcept {
    const std::size_t own = b->size();
    boundary_tag* const behind = b->at(own);
    const bool joins_before = !b->is_previous_used();
    const bool joins_behind = !behind->is_used();
    const std::size_t before = joins_before ? b->previous_size() : 0;
    const std::size_t after = joins_behind ? behind->size() : 0;
    const std::size_t size = before + own + after;
    if (size >= free_blocks::small) return false;
    if (joins_before) {
      b = b->previous();
      free_.remove_small(b, before);
    }
    if (joins_behind)
      free_.remove_small(behind, after);
    else
      behind->mark_previous_free();
    b->set_free(size);
    free_.put_small(b, size);
    return true;
  }

  // Coalesces a used block with its free neighbours; the result is in no list yet.
  [[nodiscard]] boundary_tag* join(boundary_tag* b) noexcept {
    std::size_t size = b->size();
    boundary_tag* const behind = b->at(size);
    if (!b->is_previous_used()) {
      const std::size_t before = b->previous_size();
      b = b->previous();
      free_.remove(b, before);
      size += before;
    }
    if (behind->is_used()) {
      behind->mark_previous_free();
    } else {
      free_.remove(behind, behind->size());
      size += behind->size();
    }
    b->set_free(size);
    return b;
  }

  // Files a free block that is in no list: as the next rest, or in its list. Precondition: every other free
  // block is in its list, as giving up the rest may merge some. Returns what the previous rest has become;
  // null if it stays or there was none.
  MALLARD_INLINE boundary_tag* put(boundary_tag* b) noexcept {
    const std::size_t size = b->size();
    if (size >= free_blocks::small && (rest_ == &nothing_ || size < rest_->size())) return adopt(b);
    free_.put(b, size);
    return nullptr;
  }

  // Removes a free block from its list; it stays free.
  void remove(boundary_tag* b) noexcept { free_.remove(b, b->size()); }

  // Makes a free block that is in no list the rest; returns the previous rest as a free block, null if there
  // was none.
  boundary_tag* adopt(boundary_tag* b) noexcept {
    b->mark_used();
    b->next()->mark_previous_used();
    boundary_tag* const retired = retire_rest();
    rest_ = b;
    return retired;
  }

  // Whether a block lies behind the rest.
  [[nodiscard]] bool follows_rest(const boundary_tag* b) const noexcept { return rest_->next() == b; }

  // Frees a block adjacent to the rest, which absorbs it; if the block lies in front of the rest, also free
  // memory before it.
  void give_to_rest(boundary_tag* b) noexcept {
    std::size_t size = b->size() + rest_->size();
    if (follows_rest(b)) return rest_->resize(size);
    if (!b->is_previous_used()) {
      const std::size_t before = b->previous_size();
      b = b->previous();
      free_.remove(b, before);
      size += before;
    }
    b->set_used(size);
    rest_ = b;
  }

  // Removes the rest and returns it as a used block.
  [[nodiscard]] boundary_tag* take_rest() noexcept { return std::exchange(rest_, &nothing_); }

  // Makes a block of `size` bytes behind a used one the rest; precondition: there is none.
  void set_rest(boundary_tag* b, std::size_t size) noexcept {
    b->set_used(size);
    rest_ = b;
  }

  // Gives the rest up and returns it as a free block, coalesced with its neighbours; null if there was none.
  boundary_tag* retire_rest() noexcept {
    if (rest_ == &nothing_) return nullptr;
    boundary_tag* const retired = join(rest_);
    rest_ = &nothing_;
    free_.put(retired, retired->size());
    return retired;
  }

  // --- in place -------------------------------------------------------------------------------

  // Bytes by which a block can grow forward, and backward; 0 if the neighbour is used.
  [[nodiscard]] std::size_t room_behind(const boundary_tag* b) const noexcept {
    const boundary_tag* const behind = b->next();
    return behind->is_used() && behind != rest_ ? 0 : behind->size();
  }
  [[nodiscard]] std::size_t room_before(const boundary_tag* b) const noexcept {
    if (follows_rest(b)) return rest_->size();
    return b->is_previous_used() ? 0 : b->previous_size();
  }

  // Extends a block into the rest behind it, to `size` bytes. Returns false, with nothing changed, if the
  // rest does not follow, the block is already that large, or the remainder would be no block.
  [[nodiscard]] MALLARD_INLINE bool grow_into_rest(boundary_tag* b, std::size_t size) noexcept {
    const std::size_t own = b->size();
    if (b->at(own) != rest_ || size <= own) return false;
    const std::size_t all = own + rest_->size();
    if (all < size + boundary_tag::least) return false;
    b->grow_to(size);
    rest_ = b->at(size);
    rest_->set_used(all - size);
    return true;
  }

  // Whether cut would leave the block with fewer bytes.
  [[nodiscard]] bool can_cut(const boundary_tag* b, std::size_t size) const noexcept {
    const std::size_t remainder = b->size() - size;
    return remainder != 0 && remainder + room_behind(b) >= boundary_tag::least;
  }

  // Cuts a block to its first `size` bytes if the remainder is large enough for a block, which then is free.
  void cut(boundary_tag* b, std::size_t size) noexcept {
    if (!can_cut(b, size)) return;
    boundary_tag* const behind = b->next();
    std::size_t remainder = b->size() - size;
    b->resize(size);
    boundary_tag* const cut_off = b->at(size);
    if (behind == rest_) {
      remainder += behind->size();
      rest_ = cut_off;
      return cut_off->set_used(remainder);
    }
    if (!behind->is_used()) {
      remainder += behind->size();
      remove(behind);
    }
    cut_off->at(remainder)->mark_previous_free();
    make_free(cut_off, remainder);
  }

  // Adds all the room behind to the block; precondition: there is some.
  void join_behind(boundary_tag* b) noexcept {
    boundary_tag* const behind = b->next();
    if (behind == rest_)
      rest_ = &nothing_;
    else
      remove(behind);
    b->resize(b->size() + behind->size());
    b->next()->mark_previous_used();
  }

  // Extends a block by the last `bytes` of the room in front, where it then starts; precondition: a multiple
  // of the granule that can be taken.
  [[nodiscard]] boundary_tag* join_before(boundary_tag* b, std::size_t bytes) noexcept {
    const std::size_t size = b->size() + bytes;
    if (follows_rest(b)) return join_rest_before(b, bytes, size);
    const std::size_t left = b->previous_size() - bytes;
    boundary_tag* const before = b->previous();
    remove(before);
    boundary_tag* const joined = before->at(left);
    joined->set_used(size);
    if (left != 0) {
      joined->mark_previous_free();
      make_free(before, left);
    }
    return joined;
  }

  // Calls f(block) for every free block; returns the first violation that f returns or that is found here.
  // O(blocks).
  template <class F>
  [[nodiscard]] violation validate(F f) const noexcept {
    if (rest_ != &nothing_ && !rest_->is_used()) return {"joined_blocks: the rest is free"};
    return free_.validate(f);
  }

 private:
  // The same for a block that follows the rest.
  boundary_tag* join_rest_before(boundary_tag* b, std::size_t bytes, std::size_t size) noexcept {
    if (bytes == rest_->size()) {
      boundary_tag* const all = take_rest();
      all->resize(size);
      return all;
    }
    rest_->resize(rest_->size() - bytes);
    b = rest_->next();
    b->set_used(size);
    return b;
  }

  // From a small free block.
  boundary_tag* carve_small(boundary_tag* b, std::size_t size) noexcept {
    const std::size_t whole = b->size();
    free_.remove_small(b, whole);
    const std::size_t remainder = whole - size;
    if (remainder < boundary_tag::least) {
      b->set_used(whole);
      b->at(whole)->mark_previous_used();
    } else {
      b->set_used(size);
      boundary_tag* const cut_off = b->at(size);
      cut_off->set_free(remainder);
      free_.put_small(cut_off, remainder);
    }
    return b;
  }

  // From the rest, or a large free block.
  MALLARD_NOINLINE boundary_tag* carve_large(std::size_t size) noexcept {
    boundary_tag* const found = free_.at_least(size);
    const std::size_t rest = rest_->size();
    if (rest >= size && (found == nullptr || rest <= found->size())) return carve_rest(size);
    if (found == nullptr || size >= free_blocks::small)
      return found == nullptr ? nullptr : carve_at(found, 0, size);
    free_.remove(found, found->size());
    adopt(found);
    return carve_rest(size);
  }

  boundary_tag* carve_rest(std::size_t size) noexcept {
    if (boundary_tag* const b = take_from_rest(size); b != nullptr) return b;
    return take_rest();
  }

  // Frees a cut-off remainder behind a used block; the tag behind it already says that.
  void make_free(boundary_tag* b, std::size_t size) noexcept {
    b->set_free(size);
    put(b);
  }

  boundary_tag* rest_ = &nothing_;
  boundary_tag nothing_;  // the rest if there is none: of size 0, without neighbours
  free_blocks free_;
};

}  // namespace mallard
