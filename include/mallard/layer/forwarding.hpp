// forwarding<Upstream>: the base of layers that observe blocks without changing them.
//
//     layer: forwarding    allocate, deallocate:      the layer's own
//         |                questions about a block:   the upstream's
//     Upstream
//
// It owns the upstream and forwards everything that an observing layer cannot spoil. Operations that end many
// blocks or change sizes are left to the layer, since they alter what it counts. What it holds is what its
// blocks have upstream, so held, carved and granted are equal; what the upstream holds for them is
// upstream().usage(). Cost: none.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include "mallard/core/block.hpp"
#include "mallard/core/chain.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/resize.hpp"
#include "mallard/core/usage.hpp"

namespace mallard {

template <heap Upstream>
class forwarding {
 public:
  using upstream_type = Upstream;

  template <class... Args>
    requires constructible_as_root<Upstream, Args...>
  explicit forwarding(Args&&... args) : upstream_(std::forward<Args>(args)...) {}
  forwarding(const forwarding&) = delete;
  forwarding& operator=(const forwarding&) = delete;

  [[nodiscard]] upstream_type& upstream() noexcept { return upstream_; }
  [[nodiscard]] const upstream_type& upstream() const noexcept { return upstream_; }

  [[nodiscard]] bool owns(const void* p) const noexcept
    requires owning<Upstream>
  {
    return upstream_.owns(p);
  }

  [[nodiscard]] std::size_t received_size(std::size_t size, std::size_t align) const noexcept
    requires predictable<Upstream>
  {
    return upstream_.received_size(size, align);
  }

  [[nodiscard]] std::size_t usable_size(const void* p) const noexcept
    requires measurable<Upstream>
  {
    return upstream_.usable_size(p);
  }

  [[nodiscard]] std::size_t block_size() const noexcept
    requires fixed_size<Upstream>
  {
    return upstream_.block_size();
  }

  [[nodiscard]] std::size_t block_align() const noexcept
    requires fixed_size<Upstream>
  {
    return upstream_.block_align();
  }

  std::size_t trim(std::size_t keep) noexcept
    requires trimmable<Upstream>
  {
    return upstream_.trim(keep);
  }

  void flush() noexcept
    requires thread_caching<Upstream>
  {
    upstream_.flush();
  }

  [[nodiscard]] std::size_t held() const noexcept
    requires counted<Upstream>
  {
    return upstream_.held();
  }

  [[nodiscard]] std::size_t max_held() const noexcept
    requires counted<Upstream>
  {
    return upstream_.max_held();
  }

  [[nodiscard]] heap_usage usage() const noexcept
    requires inspectable<Upstream>
  {
    const std::size_t granted = upstream_.usage().granted;
    return {granted, granted, granted};
  }

  [[nodiscard]] violation validate() const noexcept
    requires inspectable<Upstream>
  {
    return upstream_.validate();
  }

 protected:
  ~forwarding() = default;

  // Whether the received size of a block can be determined when it is freed.
  static constexpr bool knows_received = predictable<Upstream> || measurable<Upstream>;

  // Received size of a live block freed with `size`; 0 if it cannot be determined.
  [[nodiscard]] std::size_t received_by([[maybe_unused]] const void* p, [[maybe_unused]] std::size_t size,
                                        [[maybe_unused]] std::size_t align) const noexcept {
    if constexpr (predictable<Upstream>)
      return upstream_.received_size(size, align);
    else if constexpr (measurable<Upstream>)
      return upstream_.usable_size(p);
    else
      return 0;
  }

  // Received size of each block of a burst.
  [[nodiscard]] std::size_t received_in_burst(std::size_t size, std::size_t align) const noexcept
    requires predictable<Upstream>
  {
    return upstream_.received_size(std::max(size, sizeof(void*)), align);
  }

  // Received size of all `count` blocks of a burst, linked from `first`. O(count) if each block must be
  // asked.
  [[nodiscard]] std::size_t received_by_burst([[maybe_unused]] const void* first, std::size_t count,
                                              std::size_t size, std::size_t align) const noexcept
    requires knows_received
  {
    if constexpr (predictable<Upstream>) {
      return count * received_in_burst(size, align);
    } else {
      std::size_t sum = 0;
      for (; count != 0; --count, first = chain::next(first)) sum += upstream_.usable_size(first);
      return sum;
    }
  }

  // The request with the block's size filled in; callers may omit it for measurable heaps.
  [[nodiscard]] resize_request with_size(resize_request request) const noexcept {
    if constexpr (measurable<Upstream>)
      if (request.size == unknown_size) request.size = upstream_.usable_size(request.data);
    return request;
  }

  static constexpr resize_way upstream_ways = [] {
    if constexpr (resizable<Upstream>)
      return resize_way{Upstream::ways};
    else
      return resize_way::none;
  }();

 private:
  Upstream upstream_;
};

}  // namespace mallard
