// limited<Upstream>: bounds the bytes of live blocks.
//
//     limit  [ out: live blocks, as received ........|  left        ]
//            a request that needs more than is left is null; blocks that come back make room
//
//     resource<limited<multipool>> r(byte_limit{1 << 20});              a container's share
//     basic_multipool<limited<default_source>> h(byte_limit{1 << 20});  what a heap may take of the system
//
// Below a heap it bounds what that heap holds, including its free blocks. Above a heap it bounds only live
// bytes, of which the heap may hold more; above a monotonic it bounds nothing, as a freed block makes room
// here but not below. It counts received bytes, so the upstream must report them (predictable or measurable).
// If the upstream predicts them, a request beyond the limit never reaches it, and bursts are forwarded;
// resizing never is. As many threads as the upstream allows. Invariant: out <= limit, unless the limit was
// lowered below what was out. Cost: two additions and the upstream's received_size per pair; the additions
// are atomic if the upstream is concurrent. Seed 000, section 1 (allocators aid testing, debugging and
// measurement).
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "mallard/core/align.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/chain.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/counters.hpp"
#include "mallard/layer/forwarding.hpp"

namespace mallard {

// The limit of a `limited` heap, distinct from the upstream's arguments.
struct byte_limit {
  std::size_t bytes = SIZE_MAX;
};

template <heap Upstream>
  requires predictable<Upstream> || measurable<Upstream>
class limited : public forwarding<Upstream> {
  using base = forwarding<Upstream>;

 public:
  static constexpr bool is_concurrent = concurrent<Upstream>;

  // Without a byte_limit: unlimited.
  using base::base;
  using base::upstream;

  template <class... Args>
    requires constructible_as_root<Upstream, Args...>
  explicit limited(byte_limit limit, Args&&... args)
      : base(std::forward<Args>(args)...), limit_(limit.bytes) {}

  [[nodiscard]] std::size_t limit() const noexcept { return limit_; }

  // Live blocks stay: below what is out, requests return null until enough blocks are freed.
  void set_limit(std::size_t bytes) noexcept { limit_ = bytes; }

  // Received bytes of live blocks.
  [[nodiscard]] std::size_t out() const noexcept { return out_; }

  [[nodiscard]] block allocate(std::size_t size, std::size_t align) noexcept {
    return within(size, align, [&] { return upstream().allocate(size, align); });
  }

  [[nodiscard]] block allocate(std::size_t size, std::size_t align, bool& is_fresh) noexcept
    requires tells_fresh<Upstream>
  {
    is_fresh = false;
    const block given = within(size, align, [&] { return upstream().allocate(size, align, is_fresh); });
    is_fresh = is_fresh && static_cast<bool>(given);
    return given;
  }

  void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    const std::size_t received = this->received_by(p, size, align);
    upstream().deallocate(p, size, align);
    out_ -= received;
  }

  void return_to_system(void* p, std::size_t size, std::size_t align) noexcept
    requires caching<Upstream>
  {
    const std::size_t received = this->received_by(p, size, align);
    upstream().return_to_system(p, size, align);
    out_ -= received;
  }

  [[nodiscard]] bool allocate_burst(chain& out, std::size_t count, std::size_t size, std::size_t align,
                                    std::size_t contiguous) noexcept
    requires burst<Upstream> && predictable<Upstream>
  {
    const std::size_t each = this->received_in_burst(size, align);
    if (count != 0 && (each == 0 || each > max_request / count || !reserve(count * each))) return false;
    if (upstream().allocate_burst(out, count, size, align, contiguous)) return true;
    out_ -= count * each;
    return false;
  }

  void deallocate_burst(chain& blocks, std::size_t size, std::size_t align) noexcept
    requires burst<Upstream> && predictable<Upstream>
  {
    const std::size_t received = blocks.size() * this->received_in_burst(size, align);
    upstream().deallocate_burst(blocks, size, align);
    out_ -= received;
  }

  void release() noexcept
    requires releasable<Upstream>
  {
    upstream().release();
    out_ = 0;
  }

  void clear() noexcept
    requires clearable<Upstream>
  {
    upstream().clear();
    out_ = 0;
  }

 private:
  // What `from` gives, if that stays within the limit.
  template <class From>
  block within(std::size_t size, std::size_t align, From from) noexcept {
    if constexpr (predictable<Upstream>) {
      const std::size_t expected = upstream().received_size(size, align);
      if (expected == 0 || !reserve(expected)) return {};
      const block given = from();
      if (!given) out_ -= expected;
      return given;
    } else {
      const block given = from();
      if (!given || reserve(given.size)) return given;
      upstream().deallocate(given.data, given.size, align);
      return {};
    }
  }

  // Whether `bytes` more may go out; they count as out then.
  bool reserve(std::size_t bytes) noexcept {
    std::size_t out = out_;
    if constexpr (is_concurrent) {
      do {
        if (!fits(out, bytes)) return false;
      } while (!out_.compare_exchange_weak(out, out + bytes));
    } else {
      if (!fits(out, bytes)) return false;
      out_ = out + bytes;
    }
    return true;
  }

  [[nodiscard]] bool fits(std::size_t out, std::size_t bytes) const noexcept {
    return out <= limit_ && bytes <= limit_ - out;
  }

  number<is_concurrent> limit_ = SIZE_MAX;
  number<is_concurrent> out_ = 0;
};

}  // namespace mallard
