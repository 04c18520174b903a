// record_stack<T, Source, Growth>: values that are put on a stack and taken off, in chunks of their own.
//
//     newest --> [header| T T T T ....free....] --> [header| T T T T T T T T T ]
//                                ^ top
//
// It grows without moving a value, and its memory comes from a source that nothing else need share: what is
// noted here lies nowhere near what it is about. The largest chunk that becomes empty is kept.
// Invariant: no chunk but the newest has room for another value. Cost: push and pop are O(1) beside the
// source's cost, once a chunk.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>

#include "mallard/core/attributes.hpp"
#include "mallard/core/check.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/layer/bump.hpp"
#include "mallard/layer/chunk_list.hpp"
#include "mallard/layer/growth.hpp"

namespace mallard {

template <class T, heap Source, growth_policy Growth>
  requires(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>)
class record_stack {
  using chunks = chunk_list<Source, Growth>;
  using chunk = typename chunks::chunk;

 public:
  // False, and nothing has changed, when the source is exhausted.
  [[nodiscard]] bool push(const T& value) noexcept {
    void* place = nullptr;
    if (!top_.take(sizeof(T), alignof(T), place)) [[unlikely]] {
      if (!add_chunk()) return false;
      if (!top_.take(sizeof(T), alignof(T), place)) return false;
    }
    ::new (place) T(value);
    ++size_;
    return true;
  }

  // Takes the value off that was put on last; precondition: there is one.
  T pop() noexcept {
    MALLARD_CHECK(size_ != 0);
    if (top_.cursor() == chunks_.newest()->begin()) {
      chunks_.drop_newest();
      top_ = {chunks_.newest()->filled(), chunks_.newest()->end()};
    }
    --size_;
    std::byte* const place = top_.cursor() - sizeof(T);
    top_.rewind(place);
    return *std::launder(reinterpret_cast<const T*>(place));
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

  // Bytes that it has from its source.
  [[nodiscard]] std::size_t held() const noexcept { return chunks_.held(); }

  [[nodiscard]] Source& source() noexcept { return chunks_.upstream(); }

  // Gives all memory back. O(chunks).
  void release() noexcept {
    chunks_.release();
    top_ = {};
    size_ = 0;
  }

  // Calls f(value) for each, the last one first, while it returns true.
  template <class F>
  void for_each_while(F f) const noexcept {
    const std::byte* end = top_.cursor();
    for (chunk* c = chunks_.newest(); c != nullptr; c = c->older()) {
      if (c != chunks_.newest()) end = c->filled();
      for (; end != c->begin(); end -= sizeof(T))
        if (!f(*std::launder(reinterpret_cast<const T*>(end - sizeof(T))))) return;
    }
  }

  [[nodiscard]] violation validate() const noexcept {
    if (violation v = chunks_.validate()) return v;
    std::size_t bytes = 0;
    for (chunk* c = chunks_.newest(); c != nullptr; c = c->older()) {
      const std::byte* const end = c == chunks_.newest() ? top_.cursor() : c->filled();
      if (end < c->begin() || end > c->end()) return {"record_stack: the top is outside its chunk"};
      bytes += static_cast<std::size_t>(end - c->begin());
    }
    if (bytes != size_ * sizeof(T)) return {"record_stack: the values do not add up"};
    return {};
  }

 private:
  static_assert(alignof(T) <= default_align);

  MALLARD_NOINLINE bool add_chunk() noexcept {
    chunk* const older = chunks_.newest();
    chunk* const added = chunks_.add(sizeof(T), alignof(T));
    if (added == nullptr) return false;
    if (older != nullptr) older->set_filled(top_.cursor());
    top_ = {added->begin(), added->end()};
    return true;
  }

  bump top_;
  std::size_t size_ = 0;
  chunks chunks_;
};

}  // namespace mallard
