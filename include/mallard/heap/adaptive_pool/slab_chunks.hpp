// slab_chunks<Upstream, Form, Growth>: obtains the slabs of an adaptive pool in chunks and returns them.
//
//     full     --> [ slab | slab | slab | slab ] --> ...
//     partial  --> [ slab | .... | slab | .... ] --> ...      new slabs are taken from here first
//     idle     --> [ .... | .... | .... | .... ] --> null     kept, as far as what is in use allows
//
// A slab is aligned to the size of its pieces. Allocating slabs one by one could cost an upstream twice their
// size, so they come in chunks of up to 64, which pay for the alignment once. A chunk without used slabs is
// idle. Idle chunks are kept up to a sixteenth of the recent peak and at least `least_idle` bytes, or up to
// the form's number of slabs. Any more are returned at once: to the system, or, as many as were fetched
// from there again, to the upstream, which may keep them. The recent peak decays by a 1024th with
// each slab taken. Invariant: the used slabs of a chunk decide its list; held() is the sum of all chunks.
// Cost: O(1) beside the upstream's; release, clear and validation are O(chunks). Seed 001, chapter 3
// ("Alignment can lead to excessive memory waste", "Managing blocks").
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/check.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/growth.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/heap/adaptive_pool/slab.hpp"
#include "mallard/heap/adaptive_pool/slab_shape.hpp"

namespace mallard {

// recurrence: predicts how much of the returned memory will be fetched again, from what happened before.
//
//     returned     [ as much as was fetched again before: kept | the rest: to the system ]
//     fetched      from the kept bytes; bytes fetched again from the system will be kept next time
//
// Memory returned to the system costs a page fault per page when it is fetched again; memory that is kept
// serves nobody else. The best predictor is that it was fetched again before. So a single peak leaves nothing
// behind, and a recurring peak is returned to the system only once. Figures are bytes in total, not single
// blocks. Invariant: no more is kept than was fetched again. Cost: a few instructions. Seed 001, chapter 3
// ("Managing blocks").
class recurrence {
 public:
  // Returns whether these returned bytes shall be kept.
  [[nodiscard]] bool keeps(std::size_t bytes) noexcept {
    if (bytes > recurring_ - kept_) {
      gone_ += bytes;
      return false;
    }
    kept_ += bytes;
    return true;
  }

  // Records that bytes were taken.
  void take(std::size_t bytes) noexcept {
    const std::size_t of_kept = std::min(bytes, kept_);
    const std::size_t of_gone = std::min(bytes - of_kept, gone_);
    kept_ -= of_kept;
    gone_ -= of_gone;
    recurring_ += of_gone;
  }

 private:
  std::size_t recurring_ = 0;  // went to the system and was fetched again
  std::size_t kept_ = 0;       // of that, kept now
  std::size_t gone_ = 0;       // went to the system and was not fetched since
};

template <heap Upstream, class Form, growth_policy Growth>
class slab_chunks {
 public:
  using upstream_type = Upstream;

  static constexpr std::size_t most_slabs = 64;     // of a chunk
  static constexpr std::size_t least_idle = 65536;  // bytes

  template <class... Args>
    requires constructible_as_root<Upstream, Args...>
  explicit slab_chunks(Args&&... args) : upstream_(std::forward<Args>(args)...) {}
  slab_chunks(const slab_chunks&) = delete;
  slab_chunks& operator=(const slab_chunks&) = delete;
  ~slab_chunks() { give_all_back(); }

  [[nodiscard]] upstream_type& upstream() noexcept { return upstream_; }
  [[nodiscard]] const upstream_type& upstream() const noexcept { return upstream_; }

  // Bytes of all chunks, and of the idle ones.
  [[nodiscard]] std::size_t held() const noexcept { return held_; }
  [[nodiscard]] std::size_t idle() const noexcept { return idle_; }

  // A slab whose blocks are all free; null when exhausted. All slabs have the same shape.
  [[nodiscard]] slab* take(const slab_shape& shape) noexcept {
    slab_chunk* c = list(partial).front();
    if (c == nullptr) c = list(kept).front();
    if (c == nullptr) c = add(shape);
    if (c == nullptr) return nullptr;
    const auto index = static_cast<std::size_t>(std::countr_zero(c->unused));
    set_unused(c, c->unused & (c->unused - 1));
    most_used_ = std::max(held_ - idle_, most_used_ - most_used_ / fading);
    return make(shape, c, index);
  }

  // Ends a slab, whose blocks are all free.
  void put(const slab_shape& shape, slab* t) noexcept {
    slab_chunk* const c = t->chunk;
    set_unused(c, c->unused | std::uint64_t{1} << index_of(shape, t));
    while (!list(kept).empty() && is_too_much()) {
      slab_chunk* const idle = list(kept).front();
      end(idle, recurrence_.keeps(idle->bytes));
    }
  }

  // The next used slab in memory behind `t`; behind the last one of its chunk, the first of the chunk that
  // was used up next; null if there is no used one.
  [[nodiscard]] static slab* behind(const slab_shape& shape, const slab* t) noexcept {
    const slab_chunk* const c = t->chunk;
    const std::size_t index = index_of(shape, t) + 1;
    if (index < most_slabs && (c->all >> index & 1) != 0) return in_use(shape, c, index);
    return c->newer == nullptr ? nullptr : in_use(shape, c->newer, 0);
  }

  // The used slab directly in front of `t` in the same chunk; null if there is none.
  [[nodiscard]] static slab* in_front(const slab_shape& shape, const slab* t) noexcept {
    return in_use(shape, t->chunk, index_of(shape, t) - 1);
  }

  // The third slab of the chunk that was used up first; null if it has no used one.
  [[nodiscard]] slab* third_of_all(const slab_shape& shape) const noexcept {
    const slab_chunk* const c = lists_[full].back();
    slab* t = c == nullptr ? nullptr : at(shape, c, 0);
    for (int step = 0; t != nullptr && step < 2; ++step) t = behind(shape, t);
    return t;
  }

  // Returns idle chunks to the system until at most `keep` bytes of them are held.
  void trim(std::size_t keep) noexcept {
    while (idle_ > keep) end(list(kept).front(), false);
  }

  // Ends all slabs; keeps all chunks, or lets a clearable upstream decide what to keep.
  void clear() noexcept {
    if constexpr (clearable<Upstream>) {
      forget();
      upstream_.clear();
    } else {
      for (const state s : {full, partial})
        while (!list(s).empty()) set_unused(list(s).front(), list(s).front()->all);
    }
  }

  // Ends all slabs and returns all chunks.
  void release() noexcept {
    if constexpr (releasable<Upstream>) {
      forget();
      upstream_.release();
    } else {
      give_all_back();
    }
    most_used_ = newest_bytes_ = 0;
    recurrence_ = {};
  }

  // Calls `f` with each chunk.
  template <class F>
  void for_each(F f) const noexcept {
    for (const intrusive_list<slab_chunk>& chunks : lists_)
      for (slab_chunk* c = chunks.front(); c != nullptr; c = c->older) f(c);
  }

  // Calls `f` with each slab in use.
  template <class F>
  void for_each_slab(const slab_shape& shape, F f) const noexcept {
    for_each([&](slab_chunk* c) {
      for (std::uint64_t used = c->all & ~c->unused; used != 0; used &= used - 1)
        f(at(shape, c, static_cast<std::size_t>(std::countr_zero(used))));
    });
  }

  [[nodiscard]] bool owns(const void* p) const noexcept {
    bool found = false;
    for_each([&](const slab_chunk* c) { found |= address_of(p) - address_of(c->origin) < c->bytes; });
    return found;
  }

  [[nodiscard]] violation validate() const noexcept {
    std::size_t held = 0;
    std::size_t idle = 0;
    for (std::size_t i = 0; i < lists_.size(); ++i) {
      const auto belongs = [&](const slab_chunk* c) {
        held += c->bytes;
        if (i == kept) idle += c->bytes;
        return held <= held_ && (c->unused & ~c->all) == 0 && state_of(c) == i;
      };
      if (violation v = lists_[i].validate(belongs)) return v;
    }
    if (held != held_) return {"slab_chunks: the chunks do not add up to what is held"};
    if (idle != idle_) return {"slab_chunks: the idle chunks do not add up"};
    return {};
  }

 private:
  enum state : std::size_t { full, partial, kept };

  // The alignment that an upstream provides without losing much.
  static constexpr std::size_t page = 4096;
  static constexpr std::size_t fading = 1024;

  [[nodiscard]] intrusive_list<slab_chunk>& list(state s) noexcept { return lists_[s]; }

  static state state_of(const slab_chunk* c) noexcept {
    return c->unused == 0 ? full : c->unused == c->all ? kept : partial;
  }

  static slab* at(const slab_shape& shape, const slab_chunk* c, std::size_t index) noexcept {
    return static_cast<slab*>(slab::header_at(shape, c->begin + index * shape.bytes()));
  }

  static std::size_t index_of(const slab_shape& shape, const slab* t) noexcept {
    return static_cast<std::size_t>(t->begin(shape) - t->chunk->begin) / shape.bytes();
  }

  // The slab of a chunk at an index; null if that index is out of range or the slab unused.
  static slab* in_use(const slab_shape& shape, const slab_chunk* c, std::size_t index) noexcept {
    const std::uint64_t used = c->all & ~c->unused;
    return index < most_slabs && (used >> index & 1) != 0 ? at(shape, c, index) : nullptr;
  }

  // Records which slabs of a chunk are unused, and updates the chunk's list and the totals.
  void set_unused(slab_chunk* c, std::uint64_t unused) noexcept {
    const state before = state_of(c);
    c->unused = unused;
    const state after = state_of(c);
    if (before == after) return;
    list(before).erase(c);
    list(after).push_front(c);
    if (before == kept) count_idle(c, false);
    if (after == kept) count_idle(c, true);
  }

  void count_idle(const slab_chunk* c, bool is) noexcept {
    const auto slabs = static_cast<std::size_t>(std::popcount(c->all));
    idle_ = is ? idle_ + c->bytes : idle_ - c->bytes;
    idle_slabs_ = is ? idle_slabs_ + slabs : idle_slabs_ - slabs;
  }

  [[nodiscard]] bool is_too_much() const noexcept {
    if constexpr (Form::max_free_blocks == free_blocks_in_proportion)
      return idle_ > std::max(least_idle, most_used_ / 16);
    else
      return idle_slabs_ > Form::max_free_blocks;
  }

  MALLARD_NOINLINE slab_chunk* add(const slab_shape& shape) noexcept {
    const std::size_t align = std::min(shape.piece(), 2 * page);
    const std::size_t spare = shape.piece() - align;
    const std::size_t wished = Growth::next(newest_bytes_, held_);
    const std::size_t slabs =
        std::clamp<std::size_t>((wished - std::min(wished, spare)) / shape.bytes(), 1, most_slabs);
    const block memory =
        allocate_halving(upstream_, slabs * shape.bytes() + spare, shape.bytes() + spare, align);
    if (!memory) return nullptr;
    align_ = align;
    newest_bytes_ = memory.size;
    recurrence_.take(memory.size);
    held_ += memory.size;
    idle_ += memory.size;
    return begin(shape, memory);
  }

  // The header of a chunk lies in its first slab.
  slab_chunk* begin(const slab_shape& shape, block memory) noexcept {
    const std::size_t padding = padding_for(memory.data, shape.piece());
    std::byte* const first = static_cast<std::byte*>(memory.data) + padding;
    const std::size_t slabs = std::min((memory.size - padding) / shape.bytes(), most_slabs);
    const std::uint64_t all = ~std::uint64_t{0} >> (most_slabs - slabs);
    const std::size_t front = shape.colour_at(address_of(first)) + sizeof(slab);
    auto* const c = ::new (first + front + shape.words() * sizeof(slab::word))
        slab_chunk{nullptr, nullptr, memory.data, memory.size, first, all, all};
    list(kept).push_front(c);
    idle_slabs_ += slabs;
    return c;
  }

  static slab* make(const slab_shape& shape, slab_chunk* c, std::size_t index) noexcept {
    std::byte* const begin = c->begin + index * shape.bytes();
    slab* const made = at(shape, c, index);
    made->chunk = c;
    const auto capacity = static_cast<std::uint32_t>(made->free_all(shape));
    for (std::uint32_t piece = 0; piece < shape.pieces; ++piece)
      ::new (slab::header_at(shape, begin + piece * shape.piece()))
          slab_piece{made, piece * shape.words_a_piece, capacity};
    return made;
  }

  // Returns a chunk: to the system if the upstream must not keep it.
  void end(slab_chunk* c, bool may_be_kept) noexcept {
    const state s = state_of(c);
    list(s).erase(c);
    if (s == kept) count_idle(c, false);
    held_ -= c->bytes;
    if constexpr (caching<Upstream>)
      if (!may_be_kept) return upstream_.return_to_system(c->origin, c->bytes, align_);
    upstream_.deallocate(c->origin, c->bytes, align_);
  }

  void give_all_back() noexcept {
    for (const state s : {full, partial, kept})
      while (!list(s).empty()) end(list(s).front(), true);
  }

  void forget() noexcept {
    lists_ = {};
    held_ = idle_ = idle_slabs_ = 0;
  }

  Upstream upstream_;
  std::array<intrusive_list<slab_chunk>, 3> lists_{};
  std::size_t held_ = 0;
  std::size_t idle_ = 0;
  std::size_t idle_slabs_ = 0;
  std::size_t most_used_ = 0;
  std::size_t newest_bytes_ = 0;
  recurrence recurrence_;
  std::size_t align_ = 0;  // of the chunks
};

}  // namespace mallard
