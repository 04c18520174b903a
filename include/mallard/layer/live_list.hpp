// live_list<Upstream>: forwards blocks and links the live ones, so that it can end them all.
//
//     newest <--> [ pad | node | block ....... ] <--> [ node | block .... ] <--> null
//
// For large blocks: a node in front of each links them doubly. An alignment stricter than the node's adds
// that many bytes in front. If it owns its upstream, it forwards release() to it. Invariants: a node's
// neighbours point back at it, and its block is one of the upstream's; the word in front of a block is a
// power of two, at least 32, so that heaps with tags in that place can distinguish it from their own. Cost:
// 32 bytes per block; allocate and deallocate are O(1) beside the upstream's.
#pragma once

#include <algorithm>
#include <cstddef>
#include <new>
#include <utility>

#include "mallard/core/align.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/check.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/usage.hpp"

namespace mallard {

template <heap Upstream>
class live_list {
 public:
  using upstream_type = Upstream;

  template <class... Args>
    requires constructible_as_root<Upstream, Args...>
  explicit live_list(Args&&... args) : upstream_(std::forward<Args>(args)...) {}
  live_list(const live_list&) = delete;
  live_list& operator=(const live_list&) = delete;
  ~live_list() { release(); }

  [[nodiscard]] upstream_type& upstream() noexcept { return upstream_; }
  [[nodiscard]] const upstream_type& upstream() const noexcept { return upstream_; }

  [[nodiscard]] block allocate(std::size_t size, std::size_t align) noexcept {
    MALLARD_CHECK(is_valid_align(align));
    const std::size_t front = front_of(align);
    if (size > max_request || front > max_request - size) return {};
    const block whole = upstream_.allocate(front + std::max<std::size_t>(size, 1), front);
    if (!whole) return {};
    std::byte* const data = static_cast<std::byte*>(whole.data) + front;
    newest_ = ::new (data - sizeof(node)) node{newest_, nullptr, whole.size, front};
    if (newest_->older != nullptr) newest_->older->newer = newest_;
    return {data, whole.size - front};
  }

  void deallocate(void* p) noexcept {
    node* const ended = node_of(p);
    if (ended->older != nullptr) ended->older->newer = ended->newer;
    (ended->newer == nullptr ? newest_ : ended->newer->older) = ended->older;
    give_back(ended);
  }

  void deallocate(void* p, std::size_t, std::size_t) noexcept { deallocate(p); }

  void release() noexcept {
    if constexpr (releasable<Upstream>) {
      newest_ = nullptr;
      upstream_.release();
    } else {
      while (newest_ != nullptr) give_back(std::exchange(newest_, newest_->older));
    }
  }

  [[nodiscard]] std::size_t received_size(std::size_t size, std::size_t align) const noexcept
    requires predictable<Upstream>
  {
    const std::size_t front = front_of(align);
    if (size > max_request || front > max_request - size) return 0;
    const std::size_t whole = upstream_.received_size(front + std::max<std::size_t>(size, 1), front);
    return whole == 0 ? 0 : whole - front;
  }

  // Drops all blocks without giving one back: their upstream ends them.
  void forget() noexcept { newest_ = nullptr; }

  [[nodiscard]] std::size_t usable_size(const void* p) const noexcept {
    const node* const n = node_of(const_cast<void*>(p));
    return n->whole - n->front;
  }

  [[nodiscard]] bool owns(const void* p) const noexcept {
    for (const node* n = newest_; n != nullptr; n = n->older)
      if (address_of(p) - address_of(n->start()) < n->whole) return true;
    return false;
  }

  [[nodiscard]] heap_usage usage() const noexcept {
    heap_usage found;
    for (const node* n = newest_; n != nullptr; n = n->older) {
      found.held += n->whole;
      found.granted += n->whole - n->front;
    }
    found.carved = found.held;
    return found;
  }

  [[nodiscard]] violation validate() const noexcept {
    const node* newer = nullptr;
    for (const node* n = newest_; n != nullptr; n = n->older) {
      if (n->newer != newer) return {"live_list: a block's neighbour does not point back at it"};
      if (n->front < sizeof(node) || n->front >= n->whole) return {"live_list: a block has no valid size"};
      newer = n;
    }
    return {};
  }

 private:
  struct node {
    node* older;
    node* newer;
    std::size_t whole;  // bytes received from upstream
    std::size_t front;  // bytes from the upstream's block to the caller's, and what both are aligned to

    [[nodiscard]] std::byte* start() const noexcept {
      return const_cast<std::byte*>(reinterpret_cast<const std::byte*>(this + 1)) - front;
    }
  };
  static_assert(sizeof(node) % default_align == 0);

  static constexpr std::size_t front_of(std::size_t align) noexcept { return std::max(sizeof(node), align); }

  static node* node_of(void* p) noexcept { return static_cast<node*>(p) - 1; }

  void give_back(node* n) noexcept { upstream_.deallocate(n->start(), n->whole, n->front); }

  Upstream upstream_;
  node* newest_ = nullptr;
};

}  // namespace mallard
