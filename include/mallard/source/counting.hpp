// counting<Source>: a source that counts the bytes it has handed out.
//
//     heap --allocate--> counting --allocate--> Source
//                        held, max_held
//
// This is where the footprint of a heap is measured: once per chunk, never on a hot path. The source's
// received sizes must be predictable, because a block may be freed with any size between the requested and
// the received one. Invariant: held <= max_held; held is 0 once everything is freed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/check.hpp"
#include "mallard/core/concepts.hpp"

namespace mallard {

template <predictable Source>
class counting {
 public:
  using upstream_type = Source;

  template <class... Args>
    requires constructible_as_root<Source, Args...>
  explicit counting(Args&&... args) : source_(std::forward<Args>(args)...) {}
  counting(const counting&) = delete;
  counting& operator=(const counting&) = delete;

  [[nodiscard]] upstream_type& upstream() noexcept { return source_; }

  [[nodiscard]] std::size_t received_size(std::size_t size, std::size_t align) const noexcept {
    return source_.received_size(size, align);
  }

  [[nodiscard]] block allocate(std::size_t size, std::size_t align) noexcept {
    return count_given(source_.allocate(size, align));
  }

  [[nodiscard]] block allocate(std::size_t size, std::size_t align, bool& is_fresh) noexcept
    requires tells_fresh<Source>
  {
    return count_given(source_.allocate(size, align, is_fresh));
  }

  void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    count_returned(size, align);
    source_.deallocate(p, size, align);
  }

  void return_to_system(void* p, std::size_t size, std::size_t align) noexcept
    requires caching<Source>
  {
    count_returned(size, align);
    source_.return_to_system(p, size, align);
  }

  [[nodiscard]] std::size_t held() const noexcept { return held_; }
  [[nodiscard]] std::size_t max_held() const noexcept { return max_held_; }

  // Restarts the maximum from the bytes held now.
  void reset_max_held() noexcept { max_held_ = held_; }

 private:
  MALLARD_INLINE block count_given(block received) noexcept {
    held_ += received.size;
    max_held_ = std::max(max_held_, held_);
    return received;
  }

  void count_returned(std::size_t size, std::size_t align) noexcept {
    const std::size_t received = source_.received_size(size, align);
    MALLARD_CHECK(received <= held_);
    held_ -= received;
  }

  Source source_;
  std::size_t held_ = 0;
  std::size_t max_held_ = 0;
};

}  // namespace mallard
