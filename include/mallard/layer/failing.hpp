// failing<Upstream>: answers chosen requests with null, to show what a heap does when memory ends.
//
//     fail_at(3)     1 2 X 4 5 ...      the third request from now on fails
//     fail_from(3)   1 2 X X X ...      the third and every later one fails
//
// Everything else is the upstream's. Until one of them is called nothing fails. Cost: one count and
// two comparisons a request; for tests.
#pragma once

#include <cstddef>
#include <utility>

#include "mallard/core/block.hpp"
#include "mallard/core/concepts.hpp"

namespace mallard {

template <heap Upstream>
class failing {
 public:
  using upstream_type = Upstream;

  template <class... Args>
    requires std::constructible_from<Upstream, Args...>
  explicit failing(Args&&... args) : upstream_(std::forward<Args>(args)...) {}
  failing(const failing&) = delete;
  failing& operator=(const failing&) = delete;

  [[nodiscard]] upstream_type& upstream() noexcept { return upstream_; }
  [[nodiscard]] const upstream_type& upstream() const noexcept { return upstream_; }

  // The n-th request from now, counted from 1, fails.
  void fail_at(std::size_t n) noexcept { fail_between(n, n); }

  // The n-th request from now, counted from 1, and all that follow fail.
  void fail_from(std::size_t n) noexcept { fail_between(n, never); }

  void fail_no_more() noexcept { fail_between(never, never); }

  // Requests seen since the last of the calls above, failed ones included.
  [[nodiscard]] std::size_t requests() const noexcept { return requests_; }

  [[nodiscard]] block allocate(std::size_t size, std::size_t align) noexcept {
    ++requests_;
    if (requests_ >= first_ && requests_ <= last_) return {};
    return upstream_.allocate(size, align);
  }

  void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    upstream_.deallocate(p, size, align);
  }

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

 private:
  static constexpr std::size_t never = static_cast<std::size_t>(-1);

  void fail_between(std::size_t first, std::size_t last) noexcept {
    first_ = first;
    last_ = last;
    requests_ = 0;
  }

  Upstream upstream_;
  std::size_t first_ = never;
  std::size_t last_ = never;
  std::size_t requests_ = 0;
};

}  // namespace mallard
