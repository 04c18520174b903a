// adaptive_multipool: an adaptive pool for each size class, and best_fit for larger blocks.
//
//     size <= 512:   [8] [16] [24] ... [512]   an adaptive_pool each   --+
//     larger, or aligned to more than 64:   best_fit                   --+--> Upstream
//
// For containers that allocate both nodes and arrays. A node costs one bit of overhead, and freed node memory
// returns to the upstream, where it serves other sizes and arrays. Neither pooled blocks nor arrays grow in
// place. It holds nothing until first used; after everything is freed, what its pools and its best_fit keep,
// and nothing after trim(0). Cost of a pair up to 512 bytes: 2 instructions more than the pool's if size and
// alignment are known at compile time; O(1). Not synchronised: use locked<adaptive_multipool>. Debug builds
// validate the whole heap in release() and the destructor. Seed 001, chapter 3 ("Presenting adaptive_pool").
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/chain.hpp"
#include "mallard/core/check.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/growth.hpp"
#include "mallard/core/size_classes.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/heap/adaptive_pool.hpp"
#include "mallard/heap/adaptive_pool/slab_shape.hpp"
#include "mallard/heap/best_fit.hpp"
#include "mallard/source/default_source.hpp"
#include "mallard/source/upstream_ref.hpp"

namespace mallard {

// As multipool's, up to the size where nodes become rare.
using adaptive_multipool_classes = size_classes<8, 64, 8, 512>;

template <heap Upstream = default_source, class Form = slab_form<>,
          growth_policy Growth = adaptive_pool_growth>
class basic_adaptive_multipool {
 public:
  using upstream_type = Upstream;
  using classes = adaptive_multipool_classes;
  using form = Form;

  template <class... Args>
    requires constructible_as_root<Upstream, Args...>
  explicit basic_adaptive_multipool(Args&&... args)
      : upstream_(std::forward<Args>(args)...), arrays_(upstream_) {}
  basic_adaptive_multipool(const basic_adaptive_multipool&) = delete;
  basic_adaptive_multipool& operator=(const basic_adaptive_multipool&) = delete;
  ~basic_adaptive_multipool() { MALLARD_VALIDATE(); }

  // Memory that is allocated from the upstream directly remains the caller's.
  [[nodiscard]] upstream_type& upstream() noexcept { return upstream_; }
  [[nodiscard]] const upstream_type& upstream() const noexcept { return upstream_; }

  [[nodiscard]] MALLARD_INLINE block allocate(std::size_t size, std::size_t align) noexcept {
    if (classes::is_small(size, align)) [[likely]] {
      const std::size_t index = classes::small_index(size, align);
      if (pools_[index]) [[likely]]
        return pools_[index]->allocate(size, align);
    }
    return allocate_slow(size, align);
  }

  MALLARD_INLINE void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    if (classes::serves(size, align)) [[likely]]
      pools_[classes::index(size, align)]->deallocate(p);
    else
      arrays_.deallocate(p);
  }

  [[nodiscard]] bool allocate_burst(chain& out, std::size_t count, std::size_t size, std::size_t align,
                                    std::size_t contiguous) noexcept {
    size = std::max(size, sizeof(void*));
    if (!classes::serves(size, align)) return arrays_.allocate_burst(out, count, size, align, contiguous);
    if (count == 0) return true;
    return pool_of(classes::index(size, align)).allocate_burst(out, count, size, align, contiguous);
  }

  void deallocate_burst(chain& blocks, std::size_t size, std::size_t align) noexcept {
    if (blocks.empty()) return;
    size = std::max(size, sizeof(void*));
    if (classes::serves(size, align))
      pools_[classes::index(size, align)]->deallocate_burst(blocks, size, align);
    else
      arrays_.deallocate_burst(blocks);
  }

  // O(chunks).
  void release() noexcept {
    MALLARD_VALIDATE();
    for (std::optional<pool>& p : pools_) p.reset();
    arrays_.release();
  }

  // Returns chunks without live blocks upstream: those of best_fit until at most `keep` bytes of them are
  // held, those of the pools entirely.
  std::size_t trim(std::size_t keep) noexcept {
    std::size_t returned = arrays_.trim(keep);
    for (std::optional<pool>& p : pools_)
      if (p) returned += p->trim(0);
    return returned;
  }

  [[nodiscard]] bool owns(const void* p) const noexcept {
    const auto has = [p](const std::optional<pool>& of) { return of && of->owns(p); };
    return arrays_.owns(p) || std::ranges::any_of(pools_, has);
  }

  // Statistics of the pool of class `index`, below classes::count. O(its slabs).
  [[nodiscard]] pool_statistics statistics(std::size_t index) const noexcept {
    return pools_[index] ? pools_[index]->statistics() : pool_statistics{classes::size(index), 0, 0};
  }

  [[nodiscard]] heap_usage usage() const noexcept {
    heap_usage found = arrays_.usage();
    for (const std::optional<pool>& p : pools_) {
      if (!p) continue;
      const heap_usage pooled = p->usage();
      found.held += pooled.held;
      found.carved += pooled.carved;
      found.granted += pooled.granted;
    }
    return found;
  }

  [[nodiscard]] violation validate() const noexcept {
    for (const std::optional<pool>& p : pools_)
      if (p)
        if (violation v = p->validate()) return v;
    return arrays_.validate();
  }

 private:
  using pool = basic_adaptive_pool<upstream_ref<Upstream>, Form, Growth>;

  MALLARD_NOINLINE block allocate_slow(std::size_t size, std::size_t align) noexcept {
    if (!classes::serves(size, align)) return arrays_.allocate(size, align);
    return pool_of(classes::index(size, align)).allocate(size, align);
  }

  pool& pool_of(std::size_t index) noexcept {
    const std::size_t size = classes::size(index);
    return pools_[index] ? *pools_[index]
                         : pools_[index].emplace(size, classes::natural_align(size), upstream_);
  }

  Upstream upstream_;
  basic_best_fit<upstream_ref<Upstream>> arrays_;
  std::array<std::optional<pool>, classes::count> pools_;
};

using adaptive_multipool = basic_adaptive_multipool<>;

template <>
inline constexpr std::string_view heap_name<adaptive_multipool> = "adaptive_multipool";

}  // namespace mallard
