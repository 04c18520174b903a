// inherited<Upstream>: one upstream for a heap and all that descend from it.
//
//     root:   [ Upstream | * ]<--+       made of the root's arguments, ends with the root
//                  ^-------'     |
//     child:  [ no Upstream | * ]        the root's, until it is cut off; then it has none
//
// It forwards blocks only: as a `borrowed` heap it is never `releasable`, for its owner alone knows whose
// blocks there are. What is cut off answers every request with null. Precondition: an heir is cut off before
// its root ends, unless it ends first; the layer `nested` sees to that.
// Cost: a load and a test above the upstream's.
#pragma once

#include <concepts>
#include <cstddef>
#include <utility>

#include "mallard/core/block.hpp"
#include "mallard/core/check.hpp"
#include "mallard/core/concepts.hpp"

namespace mallard {

template <heap Upstream>
class inherited {
 public:
  using upstream_type = Upstream;

  // Says whose upstream is to be shared.
  struct heir {
    inherited& of;
  };

  template <class... Args>
    requires std::constructible_from<Upstream, Args...>
  explicit inherited(Args&&... args) : own_(std::forward<Args>(args)...) {
    in_use_ = &own_;
  }
  explicit inherited(heir h) noexcept : in_use_(h.of.in_use_) {}
  inherited(const inherited&) = delete;
  inherited& operator=(const inherited&) = delete;
  ~inherited() {
    if (in_use_ == &own_) own_.~Upstream();
  }

  // Precondition: it has not been cut off.
  [[nodiscard]] upstream_type& upstream() noexcept {
    MALLARD_CHECK(!is_cut_off());
    return *in_use_;
  }
  [[nodiscard]] const upstream_type& upstream() const noexcept {
    MALLARD_CHECK(!is_cut_off());
    return *in_use_;
  }

  [[nodiscard]] bool is_cut_off() const noexcept { return in_use_ == nullptr; }

  // Ends an heir's use of the upstream. Precondition: it is an heir, and has given everything back.
  void cut_off() noexcept {
    MALLARD_CHECK(in_use_ != &own_);
    in_use_ = nullptr;
  }

  [[nodiscard]] block allocate(std::size_t size, std::size_t align) noexcept {
    return is_cut_off() ? block{} : in_use_->allocate(size, align);
  }

  void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    upstream().deallocate(p, size, align);
  }

  void deallocate(void* p) noexcept
    requires freeable<Upstream>
  {
    upstream().deallocate(p);
  }

  [[nodiscard]] std::size_t usable_size(const void* p) const noexcept
    requires measurable<Upstream>
  {
    return upstream().usable_size(p);
  }

  [[nodiscard]] bool owns(const void* p) const noexcept
    requires owning<Upstream>
  {
    return !is_cut_off() && in_use_->owns(p);
  }

  [[nodiscard]] std::size_t received_size(std::size_t size, std::size_t align) const noexcept
    requires predictable<Upstream>
  {
    return is_cut_off() ? 0 : in_use_->received_size(size, align);
  }

 private:
  union {
    Upstream own_;  // of a root only
  };
  Upstream* in_use_ = nullptr;
};

// Whether a type is such an upstream.
template <class Upstream>
inline constexpr bool is_inherited = false;
template <class Upstream>
inline constexpr bool is_inherited<inherited<Upstream>> = true;

}  // namespace mallard
