// stats<Upstream>: counts requests to a heap, and live blocks and bytes.
//
//     caller --allocate--> stats --allocate--> Upstream
//                          requests, failures, deallocations; blocks, requested, received: live, peak, total
//
// A block may be freed with any size from the requested to the received one, so
//
//   received   is exact if the upstream reports it (predictable or measurable), and otherwise stays 0
//              (counts_received says which);
//   requested  is what callers pass, to allocate and deallocate. Exact for callers that free with the size
//              they requested, as all standard containers do; otherwise `live` is too small by the excess.
//
// clear and release end blocks in `live`, not as deallocations. A rewind ends an unknown number of blocks, so
// marks are not forwarded; bursts are if received sizes are known, and count as that many blocks. A peak is
// the most that was live since the start, or since reset_peak(). Counting is atomic if the upstream is
// concurrent. Cost: about ten additions to memory per pair, 5 ns, or atomic ones, and the upstream's
// received_size. Suggested: above a heap to see what the program asks, below it to see what the heap costs.
// Seed 000, section 1 (allocators aid testing, debugging and measurement).
#pragma once

#include <concepts>
#include <cstddef>

#include "mallard/core/block.hpp"
#include "mallard/core/chain.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/counters.hpp"
#include "mallard/core/resize.hpp"
#include "mallard/layer/forwarding.hpp"

namespace mallard {

struct heap_statistics {
  std::size_t requests = 0;       // blocks requested, failures included
  std::size_t failures = 0;       // of these, answered with null
  std::size_t deallocations = 0;  // blocks freed one by one
  counters blocks;                // blocks given
  counters requested;             // bytes, as callers say
  counters received;              // bytes, as received from the upstream; all 0 if it does not report them

  friend constexpr bool operator==(const heap_statistics&, const heap_statistics&) = default;
};

template <heap Upstream>
class stats : public forwarding<Upstream> {
  using base = forwarding<Upstream>;

 public:
  static constexpr bool is_concurrent = concurrent<Upstream>;
  static constexpr bool counts_received = base::knows_received;

  using base::base;
  using base::upstream;

  [[nodiscard]] block allocate(std::size_t size, std::size_t align) noexcept {
    const block given = upstream().allocate(size, align);
    count_request(given, size);
    return given;
  }

  [[nodiscard]] block allocate(std::size_t size, std::size_t align, bool& is_fresh) noexcept
    requires tells_fresh<Upstream>
  {
    const block given = upstream().allocate(size, align, is_fresh);
    count_request(given, size);
    return given;
  }

  void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    ++deallocations_;
    end(1, size, this->received_by(p, size, align));
    upstream().deallocate(p, size, align);
  }

  void return_to_system(void* p, std::size_t size, std::size_t align) noexcept
    requires caching<Upstream>
  {
    ++deallocations_;
    end(1, size, this->received_by(p, size, align));
    upstream().return_to_system(p, size, align);
  }

  [[nodiscard]] bool allocate_burst(chain& out, std::size_t count, std::size_t size, std::size_t align,
                                    std::size_t contiguous) noexcept
    requires burst<Upstream> && counts_received
  {
    const void* const before = out.back();
    const bool given = upstream().allocate_burst(out, count, size, align, contiguous);
    requests_ += count;
    if (given) {
      const void* const first = before == nullptr ? out.front() : chain::next(before);
      begin(count, count * size, this->received_by_burst(first, count, size, align));
    } else {
      failures_ += count;
    }
    return given;
  }

  void deallocate_burst(chain& blocks, std::size_t size, std::size_t align) noexcept
    requires burst<Upstream> && counts_received
  {
    const std::size_t count = blocks.size();
    deallocations_ += count;
    end(count, count * size, this->received_by_burst(blocks.front(), count, size, align));
    upstream().deallocate_burst(blocks, size, align);
  }

  void release() noexcept
    requires releasable<Upstream>
  {
    end_all();
    upstream().release();
  }

  void clear() noexcept
    requires clearable<Upstream>
  {
    end_all();
    upstream().clear();
  }

  static constexpr resize_way ways = base::upstream_ways;

  // Counts as a request if it may allocate a new block; a block resized in place continues to live.
  [[nodiscard]] resize_result resize(const resize_request& asked) noexcept
    requires resizable<Upstream>
  {
    const resize_request request = this->with_size(asked);
    const std::size_t before = this->received_by(request.data, request.size, request.align);
    const resize_result result = upstream().resize(request);
    const std::size_t size = result.memory.size >= request.preferred ? request.preferred : request.limit;
    if (result.reused) {
      if (result.memory.size != before) requested_.change(request.size, size);
      if constexpr (counts_received) received_.change(before, result.memory.size);
    } else if (has_way(request.ways & ways, resize_way::allocate_new)) {
      count_request(result.memory, size);
    }
    return result;
  }

  [[nodiscard]] heap_statistics statistics() const noexcept {
    return {requests_, failures_, deallocations_, blocks_.read(), requested_.read(), received_.read()};
  }

  // Resets the peaks to the current figures.
  void reset_peak() noexcept {
    blocks_.reset_peak();
    requested_.reset_peak();
    received_.reset_peak();
  }

 private:
  void count_request(const block& given, std::size_t size) noexcept {
    ++requests_;
    if (given)
      begin(1, size, given.size);
    else
      ++failures_;
  }

  // Counts `count` new blocks of these total sizes.
  void begin(std::size_t count, std::size_t requested, std::size_t received) noexcept {
    blocks_.add(count);
    requested_.add(requested);
    if constexpr (counts_received) received_.add(received);
  }

  void end(std::size_t count, std::size_t requested, std::size_t received) noexcept {
    blocks_.remove(count);
    requested_.remove(requested);
    received_.remove(received);
  }

  void end_all() noexcept {
    blocks_.remove_all();
    requested_.remove_all();
    received_.remove_all();
  }

  number<is_concurrent> requests_ = 0;
  number<is_concurrent> failures_ = 0;
  number<is_concurrent> deallocations_ = 0;
  counter<is_concurrent> blocks_;
  counter<is_concurrent> requested_;
  counter<is_concurrent> received_;
};

}  // namespace mallard
