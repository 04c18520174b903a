// thread_pages<Upstream>: an upstream for the heap of one thread, beside those of others.
//
//     heap of thread 1 --> thread_pages --+                       page 7: heap 1
//                                         +--> one Upstream       page 8: heap 2
//     heap of thread 2 --> thread_pages --+                       page 9: heap 1     (page_owners)
//
// It hands out whole pages and marks them with their owner, so that a block finds its way back to the heap it
// came from whoever frees it. A lock guards an upstream that is not `concurrent`; chunks are requested so
// rarely that a thread hardly ever waits.
// Pages are aligned as such, and none has two owners. Cost: the upstream's, a lock, and a store a page.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <mutex>
#include <utility>

#include "mallard/core/align.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/check.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/light_mutex.hpp"
#include "mallard/source/page_owners.hpp"

namespace mallard {

// What the heaps of all threads stand on. The lock guards the upstream, and what else its user likes.
template <heap Upstream, class Mutex = light_mutex>
class pages_of_threads {
 public:
  template <class... Args>
    requires std::constructible_from<Upstream, Args...>
  explicit pages_of_threads(Args&&... args) : upstream_(std::forward<Args>(args)...) {}
  pages_of_threads(const pages_of_threads&) = delete;
  pages_of_threads& operator=(const pages_of_threads&) = delete;

  // Precondition: the lock is held, or no other thread is inside.
  [[nodiscard]] Upstream& upstream() noexcept { return upstream_; }
  [[nodiscard]] const Upstream& upstream() const noexcept { return upstream_; }
  [[nodiscard]] std::lock_guard<Mutex> lock() const noexcept { return std::lock_guard(mutex_); }

  // The table that the pages are marked in: that of the library that constructed this.
  [[nodiscard]] page_owners& owners() const noexcept { return *owners_; }

 private:
  mutable Mutex mutex_;
  Upstream upstream_;
  page_owners* owners_ = &the_page_owners;
};

template <heap Upstream, class Mutex = light_mutex>
class thread_pages {
 public:
  using upstream_type = Upstream;
  using mutex_type = Mutex;
  using shared = pages_of_threads<Upstream, Mutex>;

  static constexpr bool is_concurrent = concurrent<Upstream>;

  // Whose pages, and from where. Both outlive this.
  struct origin {
    shared& from;
    page_owner& owner;
  };

  explicit thread_pages(origin o) noexcept : from_(&o.from), owner_(&o.owner) {}
  thread_pages(const thread_pages&) = delete;
  thread_pages& operator=(const thread_pages&) = delete;

  [[nodiscard]] upstream_type& upstream() noexcept { return from_->upstream(); }

  [[nodiscard]] block allocate(std::size_t size, std::size_t align) noexcept {
    MALLARD_CHECK(is_valid_align(align));
    ++owner_->requests;
    const std::size_t bytes = bytes_of(size, align);
    if (bytes == 0) return {};
    const block pages = with_upstream([&](Upstream& u) { return u.allocate(bytes, align_of(align)); });
    if (!pages) return {};
    if (from_->owners().give(pages.data, bytes, owner_)) return {pages.data, bytes};
    with_upstream([&](Upstream& u) { u.deallocate(pages.data, bytes, align_of(align)); });
    return {};
  }

  void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    const std::size_t bytes = bytes_of(size, align);
    from_->owners().take_back(p, bytes);
    with_upstream([&](Upstream& u) { u.deallocate(p, bytes, align_of(align)); });
  }

  void return_to_system(void* p, std::size_t size, std::size_t align) noexcept
    requires caching<Upstream>
  {
    const std::size_t bytes = bytes_of(size, align);
    from_->owners().take_back(p, bytes);
    with_upstream([&](Upstream& u) { u.return_to_system(p, bytes, align_of(align)); });
  }

  [[nodiscard]] std::size_t received_size(std::size_t size, std::size_t align) const noexcept
    requires predictable<Upstream>
  {
    return bytes_of(size, align);
  }

 private:
  static constexpr std::size_t page = page_owners::page_bytes;

  static constexpr std::size_t align_of(std::size_t align) noexcept { return std::max(align, page); }

  // Bytes of the pages for a request, the same for each size between the requested and the received one; 0
  // if it cannot be served.
  [[nodiscard]] std::size_t bytes_of(std::size_t size, std::size_t align) const noexcept {
    if (size > max_request - page) return 0;
    const std::size_t bytes = align_up(std::max<std::size_t>(size, 1), page);
    if constexpr (predictable<Upstream>)
      return with_upstream([&](Upstream& u) { return u.received_size(bytes, align_of(align)); }) / page *
             page;
    else
      return bytes;
  }

  template <class F>
  auto with_upstream(F f) const noexcept {
    if constexpr (concurrent<Upstream>) {
      return f(from_->upstream());
    } else {
      const auto guard = from_->lock();
      return f(from_->upstream());
    }
  }

  shared* from_;
  page_owner* owner_;
};

}  // namespace mallard
