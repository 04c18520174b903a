// adaptive_pool: blocks of one size, whose memory returns to the upstream as it becomes free.
//
//     current --> [header, bits| b b b b . . . . . .]      blocks come from here, in the order of addresses
//     partial --> [header, bits| b . b b b b . b b b]      then from the fullest of these
//     idle    --> [header, bits| . . . . . . . . . .]      then from these; above a bound they go back
//     upstream
//
// A segregated pool never knows that a part of its memory is free. Here each block lies in a slab: an aligned
// piece of memory, found from the block by a mask, with one bit per block. Blocks have no overhead of their
// own and the pool never touches them. The fullest slab is filled first, so that other slabs become empty and
// blocks allocated together lie together. The constructor sets the block size, up to 128 MiB, or else the
// first request does; requests that do not fit return null. The form sets the minimum number of blocks per
// slab, how many empty slabs are kept, and whether slabs are divided into pieces, which need less alignment.
// It holds nothing until first used. After everything is freed it keeps a sixteenth of the recent peak, or 64
// KiB, and the current slab; trim(0) returns everything without live blocks. Returned memory goes to the
// system, except for as much as was fetched from there again before. A live block pins its chunk, at most 256
// KiB. Overhead: one bit per block and 48 bytes per slab.
// Cost of a pair: 34 instructions (gcc 12 -O2, callgrind, loop overhead subtracted), 150 if all slabs are
// nearly full and single blocks come and go at random; O(1) for any number of blocks. Not synchronised. Debug
// builds detect a double free at once and validate the whole pool in clear(), release() and the destructor.
// Seed 001, chapter 3 ("Adaptive pools explained").
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/chain.hpp"
#include "mallard/core/check.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/growth.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/heap/adaptive_pool/partial_lists.hpp"
#include "mallard/heap/adaptive_pool/slab.hpp"
#include "mallard/heap/adaptive_pool/slab_chunks.hpp"
#include "mallard/heap/adaptive_pool/slab_shape.hpp"
#include "mallard/layer/address_ranges.hpp"
#include "mallard/source/default_source.hpp"

namespace mallard {

// Chunks double to 64 KiB, then add an eighth, and are so small that one live block keeps little.
using adaptive_pool_growth = proportional<4096, 65536, 8, 262144>;

template <heap Upstream = default_source, class Form = slab_form<>,
          growth_policy Growth = adaptive_pool_growth>
class basic_adaptive_pool {
  using chunks = slab_chunks<Upstream, Form, Growth>;

 public:
  using upstream_type = Upstream;
  using form = Form;

  // A pool whose first request sets the size; release() lets the next request set it again.
  basic_adaptive_pool()
    requires std::default_initializable<Upstream>
      : adopts_(true) {}

  // A pool of blocks of at least `size` bytes, aligned to at least `align` bytes, a power of two; if that is
  // impossible, every request returns null. `args` construct the upstream.
  // Templated on integral types so that facades can forward a plain `48`.
  template <std::integral Size, std::integral Align = std::size_t, class... Args>
    requires constructible_as_root<Upstream, Args...>
  explicit basic_adaptive_pool(Size size, Align align = default_align, Args&&... args)
      : chunks_(std::forward<Args>(args)...) {
    set(static_cast<std::size_t>(size), static_cast<std::size_t>(align));
  }

  // A child in a family of nested<>, whose first request sets the size.
  template <class Child>
    requires std::same_as<Child, typename Upstream::child_of>
  explicit basic_adaptive_pool(Child c) : adopts_(true), chunks_(c) {}
  basic_adaptive_pool(const basic_adaptive_pool&) = delete;
  basic_adaptive_pool& operator=(const basic_adaptive_pool&) = delete;
  ~basic_adaptive_pool() { MALLARD_VALIDATE(); }

  // Memory that is allocated from the upstream directly may end with this heap's release().
  [[nodiscard]] upstream_type& upstream() noexcept { return chunks_.upstream(); }
  [[nodiscard]] const upstream_type& upstream() const noexcept { return chunks_.upstream(); }

  // Size and alignment of every block, in bytes; 0 before the first request sets them.
  [[nodiscard]] std::size_t block_size() const noexcept { return shape_.size; }
  [[nodiscard]] std::size_t block_align() const noexcept { return shape_.align; }

  [[nodiscard]] MALLARD_INLINE block allocate(std::size_t size, std::size_t align) noexcept {
    if (size <= shape_.size && align <= shape_.align) [[likely]] {
      if (next_ != end_) [[likely]]
        return {take_of_row(), shape_.size};
      if (rest_ != 0) return {take_of_rest(), shape_.size};
    }
    return allocate_slow(size, align);
  }

  MALLARD_INLINE void deallocate(void* p, std::size_t, std::size_t) noexcept { deallocate(p); }

  MALLARD_INLINE void deallocate(void* p) noexcept {
    const std::size_t offset = address_of(p) & shape_.within;
    slab_piece* const piece = slab::header_at(shape_, static_cast<std::byte*>(p) - offset);
    const std::size_t slot = shape_.slot_at(offset);
    slab* t = static_cast<slab*>(piece);
    std::size_t index = slot / slab_shape::slots_a_word;
    if constexpr (Form::has_pieces) {
      t = piece->of;
      index += piece->first_word;
    }
    const slab::word bit = slab::word{1} << slot % slab_shape::slots_a_word;
    MALLARD_CHECK((t->words()[index] & bit) == 0);
    t->words()[index] |= bit;
    if (--t->until == 0) [[unlikely]]
      look_at(t);
  }

  // Carved straight from slabs: blocks of a slab follow each other in address order.
  [[nodiscard]] bool allocate_burst(chain& out, std::size_t count, std::size_t size, std::size_t align,
                                    std::size_t /*contiguous*/) noexcept {
    if (count == 0) return true;
    const bool undecided = is_undecided();
    const std::size_t linkable = std::max(size, sizeof(void*));
    const block first = allocate(linkable, align);
    if (!first) return false;
    auto* const begin = static_cast<chain::node*>(first.data);
    chain::node* last = begin;
    std::size_t taken = 1;
    while (taken < count) {
      if (!is_any_at_hand() && !refill()) return refuse(chain(begin, last, taken), undecided);
      for (; is_any_at_hand() && taken < count; ++taken) {
        auto* const next = static_cast<chain::node*>(take_at_hand());
        last->next = next;
        last = next;
      }
    }
    chain all(begin, last, taken);
    out.splice_back(all);
    return true;
  }

  void deallocate_burst(chain& blocks, std::size_t, std::size_t) noexcept {
    while (!blocks.empty()) deallocate(blocks.pop_front());
  }

  [[nodiscard]] std::size_t usable_size(const void*) const noexcept { return shape_.size; }

  [[nodiscard]] std::size_t received_size(std::size_t size, std::size_t align) const noexcept {
    if (is_undecided()) return shape_for(size, align).size;
    return size <= shape_.size && align <= shape_.align ? shape_.size : 0;
  }

  // Keeps all chunks, and the size.
  void clear() noexcept {
    MALLARD_VALIDATE();
    forget();
    chunks_.clear();
  }

  void release() noexcept {
    MALLARD_VALIDATE();
    forget();
    chunks_.release();
    if (adopts_) shape_ = {};
  }

  // Returns chunks without live blocks until at most `keep` bytes of them are held. O(chunks returned).
  std::size_t trim(std::size_t keep) noexcept {
    const std::size_t before = chunks_.held();
    put_current_away();
    chunks_.trim(keep);
    return before - chunks_.held();
  }

  [[nodiscard]] bool owns(const void* p) const noexcept { return chunks_.owns(p); }

  // Bytes of chunks without a used slab, kept for the next request. The current slab counts as used even
  // without live blocks.
  [[nodiscard]] std::size_t idle() const noexcept { return chunks_.idle(); }

  // Counts blocks, and free ones, in the slabs in use. O(slabs), like all inspection.
  [[nodiscard]] pool_statistics statistics() const noexcept {
    pool_statistics found{shape_.size, 0, static_cast<std::size_t>(std::popcount(at_hand()))};
    chunks_.for_each_slab(shape_, [&](const slab* t) {
      found.carved += t->capacity;
      found.free += t->count_free(shape_);
    });
    return found;
  }

  [[nodiscard]] heap_usage usage() const noexcept {
    const std::size_t granted = statistics().live() * shape_.size;
    return {chunks_.held(), granted, granted};
  }

  [[nodiscard]] address_ranges chunk_ranges() const noexcept {
    return address_ranges(
        [this](auto f) { chunks_.for_each([&](const slab_chunk* c) { f(c->origin, c->bytes); }); });
  }

  [[nodiscard]] violation validate() const noexcept {
    if (violation v = chunks_.validate()) return v;
    std::size_t listed = 0;
    violation found;
    chunks_.for_each_slab(shape_, [&](const slab* t) {
      if (!found) found = validate(t, listed);
    });
    if (found) return found;
    const address_ranges slabs([this](auto f) {
      chunks_.for_each_slab(shape_, [&](const slab* t) { f(t->begin(shape_), shape_.bytes()); });
    });
    const auto is_slab = [&](const slab* t) {
      return slabs.contains(t->begin(shape_), shape_.bytes()) &&
             t == slab::header_at(shape_, t->begin(shape_));
    };
    if (current_ != nullptr && !is_slab(current_))
      return {"adaptive_pool: the current slab is none of the pool's"};
    if (current_ == nullptr && is_any_at_hand()) return {"adaptive_pool: blocks are at hand from no slab"};
    if (current_ != nullptr && (current_->words()[swept_] & at_hand()) != 0)
      return {"adaptive_pool: a block at hand is free in its slab, too"};
    return partial_.validate(listed, [&](const slab* t) { return t != current_ && is_slab(t); });
  }

 private:
  // More frees than can happen before the current slab is swept again.
  static constexpr std::uint32_t never = 0xffffffff;

  [[nodiscard]] static constexpr slab_shape shape_for(std::size_t size, std::size_t align) noexcept {
    return slab_shape::of<Form>(size, align, slab::headers);
  }

  [[nodiscard]] bool is_undecided() const noexcept { return shape_.size == 0 && adopts_; }

  // Takes back the blocks of a burst that refill() could not complete, so no slab is the current one. If it
  // was the first request, no other block lives.
  MALLARD_NOINLINE bool refuse(chain taken, bool undecided) noexcept {
    deallocate_burst(taken, shape_.size, shape_.align);
    if (undecided) {
      chunks_.trim(0);
      shape_ = {};
    }
    return false;
  }

  void set(std::size_t size, std::size_t align) noexcept {
    MALLARD_CHECK(is_valid_align(align));
    shape_ = shape_for(size, align);
  }

  [[nodiscard]] bool is_any_at_hand() const noexcept { return next_ != end_ || rest_ != 0; }

  // Precondition: there is one.
  MALLARD_INLINE void* take_of_row() noexcept { return std::exchange(next_, next_ + shape_.size); }
  MALLARD_INLINE void* take_of_rest() noexcept {
    const auto slot = static_cast<std::size_t>(std::countr_zero(rest_));
    rest_ &= rest_ - 1;
    return word_ + slot * shape_.size;
  }
  MALLARD_INLINE void* take_at_hand() noexcept { return next_ != end_ ? take_of_row() : take_of_rest(); }

  MALLARD_NOINLINE block allocate_slow(std::size_t size, std::size_t align) noexcept {
    const bool undecided = is_undecided();
    if (undecided) set(size, align);
    if (size <= shape_.size && align <= shape_.align && shape_.size != 0 && (is_any_at_hand() || refill()))
      return {take_at_hand(), shape_.size};
    if (undecided) shape_ = {};
    return {};
  }

  // Loads the first row of free blocks of the next bitmap word that has any. Precondition: the current word
  // is used up.
  MALLARD_NOINLINE bool refill() noexcept {
    if (!sweep()) return false;
    const auto first = static_cast<std::size_t>(std::countr_zero(rest_));
    const auto blocks = static_cast<std::size_t>(std::countr_one(rest_ >> first));
    rest_ &= rest_ + (slab::word{1} << first);  // the carry passes through the row
    next_ = word_ + first * shape_.size;
    end_ = next_ + blocks * shape_.size;
    return true;
  }

  bool sweep() noexcept {
    while (!sweep_current()) {
      slab* const filled = std::exchange(current_, nullptr);
      if (filled != nullptr) filled->look_when(partial_lists::when_full, 0);
      current_ = next_slab(filled);
      if (current_ == nullptr) return false;
      swept_ = shape_.words() - 1;
    }
    return true;
  }

  // Continues behind the last word, wrapping around, so that blocks follow each other and freed ones gather.
  bool sweep_current() noexcept {
    if (current_ == nullptr) return false;
    const std::size_t words = shape_.words();
    for (std::size_t left = words; left != 0; --left) {
      swept_ = swept_ + 1 < words ? swept_ + 1 : 0;
      slab::word& next = current_->words()[swept_];
      if (next == 0) continue;
      rest_ = next;
      next = 0;
      word_ = current_->first_of_word(shape_, swept_);
      current_->look_when(never, 0);
      return true;
    }
    return false;
  }

  // Slabs next to each other in memory are filled in sequence if they are nearly as full as the fullest, so
  // that blocks allocated together lie together even across slabs and chunks. They come in the order in which
  // they were filled before, starting with the third: the first two were filled meanwhile, and a traversal of
  // old and new blocks should reach the new ones slightly ahead, so that the old ones are already in the
  // processor's caches. If slabs are nearly full, this is not worth a look. `filled`: the previous slab, or
  // null.
  slab* next_slab(const slab* filled) noexcept {
    if (partial_.fullest() == nullptr) return chunks_.take(shape_);
    slab* next = filled == nullptr ? nullptr : chunks::behind(shape_, filled);
    if (!is_nearly_fullest(next) && partial_.is_much_free()) next = chunks_.third_of_all(shape_);
    if (!is_nearly_fullest(next)) {
      next = partial_.fullest();
      for (slab* t = next; is_nearly_fullest(t); t = chunks::in_front(shape_, t)) next = t;
    }
    partial_.erase(next);
    return next;
  }

  [[nodiscard]] bool is_nearly_fullest(const slab* t) const noexcept {
    return t != nullptr && partial_.is_nearly_fullest(t);
  }

  // Called when the number of free blocks puts the slab into another list.
  MALLARD_NOINLINE void look_at(slab* t) noexcept {
    const std::size_t free = t->goal;
    if (free != partial_lists::when_full) partial_.erase(t);
    put_away(t, free);
  }

  // Files a slab that is in no list and has `free` free blocks, one or more.
  void put_away(slab* t, std::size_t free) noexcept {
    if (free == t->capacity)
      chunks_.put(shape_, t);
    else
      partial_.put(t, free);
  }

  void put_current_away() noexcept {
    if (current_ == nullptr) return;
    current_->words()[swept_] |= at_hand();
    slab* const t = current_;
    put_nothing_at_hand();
    const std::size_t free = t->count_free(shape_);
    if (free == 0)
      t->look_when(partial_lists::when_full, 0);
    else
      put_away(t, free);
  }

  // The free blocks of the current word that the slab's bitmap no longer shows.
  [[nodiscard]] slab::word at_hand() const noexcept {
    if (next_ == end_) return rest_;
    const std::size_t first = static_cast<std::size_t>(next_ - word_) / shape_.size;
    const std::size_t blocks = static_cast<std::size_t>(end_ - next_) / shape_.size;
    return rest_ | ~slab::word{0} >> (slab_shape::slots_a_word - blocks) << first;
  }

  void put_nothing_at_hand() noexcept {
    current_ = nullptr;
    next_ = end_ = nullptr;
    rest_ = 0;
  }

  void forget() noexcept {
    partial_ = {};
    put_nothing_at_hand();
  }

  // Checks that a slab's bitmap and counters agree, and counts the slabs that must be in a list.
  [[nodiscard]] violation validate(const slab* t, std::size_t& listed) const noexcept {
    for (std::size_t i = 0; i < shape_.words(); ++i)
      if ((t->words()[i] & ~t->all_of_word(shape_, i)) != 0)
        return {"adaptive_pool: a header counts as a free block"};
    if (t == current_) return {};
    const std::size_t free = t->count_free(shape_);
    if (t->goal - t->until != free) return {"adaptive_pool: a slab has other free blocks than it counts"};
    if (free == t->capacity) return {"adaptive_pool: an empty slab is in use"};
    listed += static_cast<std::size_t>(free != 0);
    return {};
  }

  // The members that a pair reads share one cache line.
  std::byte* next_ = nullptr;  // a row of free blocks, taken from the current slab
  std::byte* end_ = nullptr;
  slab_shape shape_;

  slab* current_ = nullptr;
  slab::word rest_ = 0;        // what else was taken out with them: free blocks of one word
  std::byte* word_ = nullptr;  // the first slot of that word
  std::size_t swept_ = 0;      // which it is
  bool adopts_ = false;
  partial_lists partial_;
  chunks chunks_;
};

using adaptive_pool = basic_adaptive_pool<>;

template <>
inline constexpr std::string_view heap_name<adaptive_pool> = "adaptive_pool";

}  // namespace mallard
