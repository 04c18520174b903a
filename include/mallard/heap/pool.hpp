// pool: blocks of one size.
//
//     freed --> [next] --> [next] --> null                       taken first, last freed first
//     newest --> [header| b b b b b b |... untouched ...] --> [header| b b b b b b b b ] --> null
//                                     ^ cursor
//
// The constructor sets the size, or else the first request does. Requests that do not fit return null: it
// suits containers of nodes (list, map, set) and objects of one type; for others use a multipool. Blocks have
// no headers and lie at multiples of the size, so only the end of a chunk is unused. Memory is freed by
// clear() (keeps all chunks), release() (keeps none) and the destructor. It holds nothing until first used;
// after everything is freed its peak, plus at most an eighth of it, or 16 KiB, in the newest chunk, and at
// the end of each chunk a sixteenth of it and a page.
// Cost of a pair: 11 instructions (gcc 12 -O2, callgrind, loop overhead subtracted); O(1) for any number of
// chunks. Not synchronised. Debug builds validate the whole pool in clear(), release() and the destructor,
// which detects wrong arguments of deallocate(); it does not check them itself.
// Seed 000, section 3 (the pools of a multipool); seed 001, chapter 3 ("Simple segregated storage").
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <new>
#include <utility>

#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/chain.hpp"
#include "mallard/core/check.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/growth.hpp"
#include "mallard/core/intrusive_stack.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/layer/address_ranges.hpp"
#include "mallard/layer/bump.hpp"
#include "mallard/layer/chunk_list.hpp"
#include "mallard/source/default_source.hpp"

namespace mallard {

// One page at first; then the newest chunk adds at most four pages or an eighth to what is held.
using pool_growth = proportional<4096, 16384, 8, 1048576>;

template <heap Upstream = default_source, growth_policy Growth = pool_growth>
class basic_pool {
  using chunks = chunk_list<Upstream, Growth>;
  using chunk = typename chunks::chunk;

 public:
  using upstream_type = Upstream;

  // A pool whose first request sets the size; release() lets the next request set it again.
  basic_pool()
    requires std::default_initializable<Upstream>
      : adopts_(true) {}

  // A pool of blocks of at least `size` bytes, aligned to at least `align` bytes, a power of two; if no
  // source has that much, every request returns null. `args` construct the upstream.
  // Templated on integral types so that facades can forward a plain `48`.
  template <std::integral Size, std::integral Align = std::size_t, class... Args>
    requires constructible_as_root<Upstream, Args...>
  explicit basic_pool(Size size, Align align = default_align, Args&&... args)
      : chunks_(std::forward<Args>(args)...) {
    const auto bytes = static_cast<std::size_t>(size);
    const auto boundary = static_cast<std::size_t>(align);
    if (chunks::can_hold(bytes, boundary)) set(bytes, boundary);
  }

  // A child in a family of nested<>, whose first request sets the size.
  template <class Child>
    requires std::same_as<Child, typename Upstream::child_of>
  explicit basic_pool(Child c) : chunks_(c), adopts_(true) {}
  basic_pool(const basic_pool&) = delete;
  basic_pool& operator=(const basic_pool&) = delete;
  ~basic_pool() { MALLARD_VALIDATE(); }

  // Memory that is allocated from the upstream directly may end with this heap's release().
  [[nodiscard]] upstream_type& upstream() noexcept { return chunks_.upstream(); }
  [[nodiscard]] const upstream_type& upstream() const noexcept { return chunks_.upstream(); }

  // Size and alignment of every block, in bytes; 0 before the first request sets them.
  [[nodiscard]] std::size_t block_size() const noexcept { return size_; }
  [[nodiscard]] std::size_t block_align() const noexcept { return align_; }

  [[nodiscard]] MALLARD_INLINE block allocate(std::size_t size, std::size_t align) noexcept {
    if (size <= size_ && align <= align_) [[likely]]
      if (void* const p = freed_.pop(); p != nullptr) [[likely]]
        return {p, size_};
    return allocate_slow(size, align);
  }

  MALLARD_INLINE void deallocate(void* p, std::size_t, std::size_t) noexcept { freed_.push(p); }

  // Freed blocks first; new ones are adjacent up to the end of a chunk, whatever the caller prefers.
  [[nodiscard]] bool allocate_burst(chain& out, std::size_t count, std::size_t size, std::size_t align,
                                    std::size_t /*contiguous*/) noexcept {
    if (count == 0) return true;
    const bool undecided = is_undecided();
    const block first = allocate(std::max(size, sizeof(void*)), align);
    if (!first) return false;
    freed_.push(first.data);
    chain taken = freed_.pop(count);
    while (taken.size() < count) {
      if (fresh_.room() < size_ && !refill()) return refuse(taken, undecided);
      carve(taken, count - taken.size());
    }
    out.splice_back(taken);
    return true;
  }

  void deallocate_burst(chain& blocks, std::size_t, std::size_t) noexcept { freed_.push(blocks); }

  [[nodiscard]] std::size_t received_size(std::size_t size, std::size_t align) const noexcept {
    if (is_undecided()) return chunks::can_hold(size, align) ? rounded(size, align) : 0;
    return size <= size_ && align <= align_ ? size_ : 0;
  }

  // Keeps all chunks, and the size.
  void clear() noexcept {
    MALLARD_VALIDATE();
    chunks_.recycle();
    forget();
  }

  void release() noexcept {
    MALLARD_VALIDATE();
    chunks_.release();
    forget();
    if (adopts_) size_ = align_ = 0;
  }

  [[nodiscard]] bool owns(const void* p) const noexcept { return chunks_.owns(p); }

  // O(blocks), as all that inspects.
  [[nodiscard]] pool_statistics statistics() const noexcept {
    pool_statistics found{size_, 0, freed_.count()};
    for (chunk* c = chunks_.newest(); c != nullptr; c = c->older()) found.carved += carved_bytes(c) / size_;
    return found;
  }

  [[nodiscard]] heap_usage usage() const noexcept {
    const std::size_t granted = statistics().live() * size_;
    return {chunks_.held(), granted, granted};
  }

  [[nodiscard]] address_ranges chunk_ranges() const noexcept { return chunks_.chunk_ranges(); }

  // O(blocks freed log chunks), in the memory of address_ranges.
  [[nodiscard]] violation validate() const noexcept {
    if (violation v = chunks_.validate()) return v;
    chunk* const newest = chunks_.newest();
    if (newest == nullptr)
      return freed_.empty() ? violation{} : violation{"pool: a freed block is in no chunk"};
    if (fresh_.cursor() < first_block(newest) || fresh_.cursor() > newest->end())
      return {"pool: the cursor is outside its chunk"};
    for (chunk* c = newest; c != nullptr; c = c->older())
      if (carved_bytes(c) % size_ != 0) return {"pool: a chunk is carved into no whole number of blocks"};
    return validate_freed(freed_, carved_ranges(), size_);
  }

 private:
  static constexpr std::size_t rounded(std::size_t size, std::size_t align) noexcept {
    return align_up(std::max(size, sizeof(void*)), std::max(align, alignof(void*)));
  }

  [[nodiscard]] bool is_undecided() const noexcept { return size_ == 0 && adopts_; }

  // Takes back the blocks of a burst that is not whole; if it was the first request, no other block lives.
  MALLARD_NOINLINE bool refuse(chain& taken, bool undecided) noexcept {
    freed_.push(taken);
    if (undecided) {
      chunks_.recycle();
      chunks_.trim_spares(0);
      forget();
      size_ = align_ = 0;
    }
    return false;
  }

  void set(std::size_t size, std::size_t align) noexcept {
    MALLARD_CHECK(is_valid_align(align));
    size_ = rounded(size, align);
    align_ = std::max(align, alignof(void*));
  }

  MALLARD_NOINLINE block allocate_slow(std::size_t size, std::size_t align) noexcept {
    const bool undecided = is_undecided();
    if (undecided && chunks::can_hold(size, align)) set(size, align);
    if (size > size_ || align > align_ || size_ == 0) return {};
    if (void* const p = freed_.pop(); p != nullptr) return {p, size_};
    if (fresh_.room() < size_ && !refill()) {
      if (undecided) size_ = align_ = 0;
      return {};
    }
    std::byte* const carved = fresh_.cursor();
    fresh_.rewind(carved + size_);
    return {carved, size_};
  }

  // Appends up to `most` new blocks, as many as the current chunk has room for.
  void carve(chain& out, std::size_t most) noexcept {
    const std::size_t blocks = std::min(most, fresh_.room() / size_);
    std::byte* const begin = fresh_.cursor();
    std::byte* const last = begin + (blocks - 1) * size_;
    for (std::byte* p = begin; p != last; p += size_)
      ::new (p) chain::node{reinterpret_cast<chain::node*>(p + size_)};
    fresh_.rewind(last + size_);
    chain carved(begin, ::new (last) chain::node{nullptr}, blocks);
    out.splice_back(carved);
  }

  bool refill() noexcept {
    chunk* const older = chunks_.newest();
    chunk* const added = chunks_.add(size_, align_, size_);
    if (added == nullptr) return false;
    if (older != nullptr) older->set_filled(fresh_.cursor());
    fresh_ = {first_block(added), added->end()};
    return true;
  }

  void forget() noexcept {
    freed_ = {};
    fresh_ = {};
  }

  [[nodiscard]] std::byte* first_block(chunk* c) const noexcept {
    return c->begin() + padding_for(c->begin(), align_);
  }

  [[nodiscard]] std::size_t carved_bytes(chunk* c) const noexcept {
    std::byte* const end = c == chunks_.newest() ? fresh_.cursor() : c->filled();
    return static_cast<std::size_t>(end - first_block(c));
  }

  [[nodiscard]] address_ranges carved_ranges() const noexcept {
    return address_ranges([this](auto f) {
      for (chunk* c = chunks_.newest(); c != nullptr; c = c->older()) f(first_block(c), carved_bytes(c));
    });
  }

  intrusive_stack freed_;
  std::size_t size_ = 0;
  std::size_t align_ = 0;
  bump fresh_;
  chunks chunks_;
  bool adopts_ = false;
};

using pool = basic_pool<>;

template <>
inline constexpr std::string_view heap_name<pool> = "pool";

}  // namespace mallard
