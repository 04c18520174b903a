// failing<Upstream>: returns null for chosen requests, to test behaviour when memory runs out.
//
//     fail_at(3)     1 2 X 4 5 ...      the third request from now on fails
//     fail_from(3)   1 2 X X X ...      the third and every later one fails
//
// It forwards everything else except nesting, whose regions it would not see. Nothing fails until one of
// these is called. Through resource<> and allocator<> a null becomes std::bad_alloc; for_each_failure() runs
// code against each failure in turn. One thread at a time. Cost: a count and two comparisons per request; for
// tests.
#pragma once

#include <cstddef>

#include "mallard/core/block.hpp"
#include "mallard/core/chain.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/resize.hpp"
#include "mallard/layer/forwarding.hpp"

namespace mallard {

template <heap Upstream>
class failing : public forwarding<Upstream> {
  using base = forwarding<Upstream>;

 public:
  using mark_type = typename detail::mark_type_of<Upstream>::type;

  using base::base;
  using base::upstream;

  // The n-th request from now, counted from 1, fails.
  void fail_at(std::size_t n) noexcept { fail_between(n, n); }

  // The n-th request from now, counted from 1, and all that follow fail.
  void fail_from(std::size_t n) noexcept { fail_between(n, never); }

  void fail_no_more() noexcept { fail_between(never, never); }

  // Requests seen since the last of the calls above, failed ones included.
  [[nodiscard]] std::size_t requests() const noexcept { return requests_; }

  [[nodiscard]] block allocate(std::size_t size, std::size_t align) noexcept {
    if (fails_now()) return {};
    return upstream().allocate(size, align);
  }

  [[nodiscard]] block allocate(std::size_t size, std::size_t align, bool& is_fresh) noexcept
    requires tells_fresh<Upstream>
  {
    is_fresh = false;
    if (fails_now()) return {};
    return upstream().allocate(size, align, is_fresh);
  }

  void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    upstream().deallocate(p, size, align);
  }

  void deallocate(void* p) noexcept
    requires freeable<Upstream>
  {
    upstream().deallocate(p);
  }

  void return_to_system(void* p, std::size_t size, std::size_t align) noexcept
    requires caching<Upstream>
  {
    upstream().return_to_system(p, size, align);
  }

  // One request.
  [[nodiscard]] bool allocate_burst(chain& out, std::size_t count, std::size_t size, std::size_t align,
                                    std::size_t contiguous) noexcept
    requires burst<Upstream>
  {
    return !fails_now() && upstream().allocate_burst(out, count, size, align, contiguous);
  }

  void deallocate_burst(chain& blocks, std::size_t size, std::size_t align) noexcept
    requires burst<Upstream>
  {
    upstream().deallocate_burst(blocks, size, align);
  }

  // One request.
  [[nodiscard]] bool allocate_burst(chain& out, const std::size_t* lengths, std::size_t count,
                                    std::size_t unit, std::size_t align, std::size_t contiguous) noexcept
    requires burst_of_sizes<Upstream>
  {
    return !fails_now() && upstream().allocate_burst(out, lengths, count, unit, align, contiguous);
  }

  void deallocate_burst(chain& blocks) noexcept
    requires burst_of_sizes<Upstream>
  {
    upstream().deallocate_burst(blocks);
  }

  static constexpr resize_way ways = base::upstream_ways;

  // Counts as a request if it may allocate more memory.
  [[nodiscard]] resize_result resize(const resize_request& request) noexcept
    requires resizable<Upstream>
  {
    const bool shrinks = has_way(request.ways, resize_way::shrink | resize_way::try_shrink);
    if (!shrinks && fails_now()) return {};
    return upstream().resize(request);
  }

  void release() noexcept
    requires releasable<Upstream>
  {
    upstream().release();
  }

  void clear() noexcept
    requires clearable<Upstream>
  {
    upstream().clear();
  }

  [[nodiscard]] mark_type mark() const noexcept
    requires rewindable<Upstream>
  {
    return upstream().mark();
  }

  void rewind(const mark_type& to) noexcept
    requires rewindable<Upstream>
  {
    upstream().rewind(to);
  }

 private:
  static constexpr std::size_t never = static_cast<std::size_t>(-1);

  // Counts a request.
  bool fails_now() noexcept {
    ++requests_;
    return requests_ >= first_ && requests_ <= last_;
  }

  void fail_between(std::size_t first, std::size_t last) noexcept {
    first_ = first;
    last_ = last;
    requests_ = 0;
  }

  std::size_t first_ = never;
  std::size_t last_ = never;
  std::size_t requests_ = 0;
};

}  // namespace mallard
