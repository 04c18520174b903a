// slab_chunks<Upstream, Form, Growth>: where the slabs of an adaptive pool come from, and where they go.
//
//     full     --> [ slab | slab | slab | slab ] --> ...
//     partial  --> [ slab | .... | slab | .... ] --> ...      new slabs are taken from here first
//     idle     --> [ .... | .... | .... | .... ] --> null     kept, as far as what is in use allows
//
// Slabs are aligned to the size of their pieces. One by one that would cost an upstream up to as much again
// for each; so they come in chunks of up to 64, which lose it once. A chunk without a used slab is idle; idle
// chunks are kept up to a sixteenth of what was in use at most of late, at the least `least_idle` bytes, or
// up to the form's number of slabs, and else go back at once: to the system the first time, and upstream,
// which may keep them, as far as they had to be taken from there again. What is "of late" fades by a 1024th
// with each slab that is taken. Invariant: a chunk is in the list that its used slabs say; held() is what all
// came to. Cost: O(1) beside the upstream's; what ends or inspects all is O(chunks). Seed 001, chapter 3
// ("Alignment can lead to excessive memory waste", "Managing blocks").
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/check.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/heap/adaptive_pool/intrusive_list.hpp"
#include "mallard/heap/adaptive_pool/recurrence.hpp"
#include "mallard/heap/adaptive_pool/slab.hpp"
#include "mallard/heap/adaptive_pool/slab_shape.hpp"
#include "mallard/layer/allocate_halving.hpp"
#include "mallard/layer/growth.hpp"

namespace mallard {

template <heap Upstream, class Form, growth_policy Growth>
class slab_chunks {
 public:
  using upstream_type = Upstream;

  static constexpr std::size_t most_slabs = 64;     // of a chunk
  static constexpr std::size_t least_idle = 65536;  // bytes

  template <class... Args>
    requires std::constructible_from<Upstream, Args...>
  explicit slab_chunks(Args&&... args) : upstream_(std::forward<Args>(args)...) {}
  slab_chunks(const slab_chunks&) = delete;
  slab_chunks& operator=(const slab_chunks&) = delete;
  ~slab_chunks() { give_all_back(); }

  [[nodiscard]] upstream_type& upstream() noexcept { return upstream_; }
  [[nodiscard]] const upstream_type& upstream() const noexcept { return upstream_; }

  // Bytes of all chunks, and of the idle ones.
  [[nodiscard]] std::size_t held() const noexcept { return held_; }
  [[nodiscard]] std::size_t idle() const noexcept { return idle_; }

  // A slab of which all blocks are free; null when exhausted. All slabs have the same shape.
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

  // The slab in use that follows `t` in memory, and behind its chunk's last the first of the chunk that was
  // used up next; null where there is none in use.
  [[nodiscard]] static slab* behind(const slab_shape& shape, const slab* t) noexcept {
    const slab_chunk* const c = t->chunk;
    const std::size_t index = index_of(shape, t) + 1;
    if (index < most_slabs && (c->all >> index & 1) != 0) return in_use(shape, c, index);
    return c->newer == nullptr ? nullptr : in_use(shape, c->newer, 0);
  }

  // The slab in use that lies in front of `t`; null where that is none of its chunk's.
  [[nodiscard]] static slab* in_front(const slab_shape& shape, const slab* t) noexcept {
    return in_use(shape, t->chunk, index_of(shape, t) - 1);
  }

  // The third slab, from the first of the chunk that was used up first of all; null where there is none in
  // use.
  [[nodiscard]] slab* third_of_all(const slab_shape& shape) const noexcept {
    const slab_chunk* const c = lists_[full].back();
    slab* t = c == nullptr ? nullptr : at(shape, c, 0);
    for (int step = 0; t != nullptr && step < 2; ++step) t = behind(shape, t);
    return t;
  }

  // Ends idle chunks until at most `keep` bytes of them are held; they go to the system.
  void trim(std::size_t keep) noexcept {
    while (idle_ > keep) end(list(kept).front(), false);
  }

  // Ends all slabs; keeps all chunks, or lets a clearable upstream keep what it wants.
  void clear() noexcept {
    if constexpr (clearable<Upstream>) {
      forget();
      upstream_.clear();
    } else {
      for (const state s : {full, partial})
        while (!list(s).empty()) set_unused(list(s).front(), list(s).front()->all);
    }
  }

  // Ends all slabs and gives all chunks back.
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

  // What an upstream aligns to without losing much.
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

  // A slab of a chunk, whatever its index; null where it has none such in use.
  static slab* in_use(const slab_shape& shape, const slab_chunk* c, std::size_t index) noexcept {
    const std::uint64_t used = c->all & ~c->unused;
    return index < most_slabs && (used >> index & 1) != 0 ? at(shape, c, index) : nullptr;
  }

  // Notes which slabs of a chunk are unused, where the chunk's list and the figures may change by that.
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
    const std::size_t align = std::min(shape.piece(), page);
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

  // The header of a chunk lies in its first slab, which is found from it.
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

  // Gives a chunk back, to the system where the upstream is not to keep it.
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
