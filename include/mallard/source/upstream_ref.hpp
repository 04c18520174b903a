// upstream_ref<Heap>: a heap by reference, so that several heaps share one upstream.
//
//     heap A: upstream_ref --+
//                            +--> one Heap, owned elsewhere
//     heap B: upstream_ref --+
//
// It forwards blocks only. Only the owner ends all blocks at once: an upstream_ref is never `releasable`, so
// releasing A cannot take B's blocks along. The heap must outlive its references.
#pragma once

#include <cstddef>
#include <utility>

#include "mallard/core/block.hpp"
#include "mallard/core/check.hpp"
#include "mallard/core/concepts.hpp"

namespace mallard {

template <heap Heap>
class upstream_ref {
 public:
  using upstream_type = Heap;

  explicit upstream_ref(Heap& referred) noexcept : heap_(&referred) {}
  upstream_ref(const upstream_ref&) = delete;
  upstream_ref& operator=(const upstream_ref&) = delete;

  [[nodiscard]] upstream_type& upstream() noexcept { return *heap_; }

  [[nodiscard]] block allocate(std::size_t size, std::size_t align) noexcept {
    return heap_->allocate(size, align);
  }

  [[nodiscard]] block allocate(std::size_t size, std::size_t align, bool& is_fresh) noexcept
    requires tells_fresh<Heap>
  {
    return heap_->allocate(size, align, is_fresh);
  }

  void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    heap_->deallocate(p, size, align);
  }

  void return_to_system(void* p, std::size_t size, std::size_t align) noexcept
    requires caching<Heap>
  {
    heap_->return_to_system(p, size, align);
  }

  [[nodiscard]] std::size_t usable_size(const void* p) const noexcept
    requires measurable<Heap>
  {
    return heap_->usable_size(p);
  }

  [[nodiscard]] bool owns(const void* p) const noexcept
    requires owning<Heap>
  {
    return heap_->owns(p);
  }

  [[nodiscard]] std::size_t received_size(std::size_t size, std::size_t align) const noexcept
    requires predictable<Heap>
  {
    return heap_->received_size(size, align);
  }

 private:
  Heap* heap_;
};

// shared_upstream<Upstream>: one upstream for a heap and all its descendants.
//
//     root:   [ Upstream | * ]<--+       constructed from the root's arguments, ends with the root
//                  ^-------'     |
//     child:  [ no Upstream | * ]        the root's, until it is cut off; then none
//
// It forwards blocks only and, like an `upstream_ref`, is never `releasable`: only the upstream's owner knows
// whose blocks it holds. After cut_off() every request is answered with null. Precondition: a child ends or
// is cut off before its root ends; the layer `nested` sees to that.
// Cost: a load and a test above the upstream's.
template <heap Upstream>
class shared_upstream {
 public:
  using upstream_type = Upstream;

  // Constructs a child, which shares the upstream of `parent`.
  struct child_of {
    shared_upstream& parent;
  };

  template <class... Args>
    requires constructible_as_root<Upstream, Args...>
  explicit shared_upstream(Args&&... args) : own_(std::forward<Args>(args)...) {
    in_use_ = &own_;
  }
  explicit shared_upstream(child_of c) noexcept : in_use_(c.parent.in_use_) {}
  shared_upstream(const shared_upstream&) = delete;
  shared_upstream& operator=(const shared_upstream&) = delete;
  ~shared_upstream() {
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

  // Ends a child's use of the upstream. Precondition: it is a child, and has given everything back.
  void cut_off() noexcept {
    MALLARD_CHECK(in_use_ != &own_);
    in_use_ = nullptr;
  }

  [[nodiscard]] block allocate(std::size_t size, std::size_t align) noexcept {
    return is_cut_off() ? block{} : in_use_->allocate(size, align);
  }

  [[nodiscard]] block allocate(std::size_t size, std::size_t align, bool& is_fresh) noexcept
    requires tells_fresh<Upstream>
  {
    is_fresh = false;
    return is_cut_off() ? block{} : in_use_->allocate(size, align, is_fresh);
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
inline constexpr bool is_shared_upstream = false;
template <class Upstream>
inline constexpr bool is_shared_upstream<shared_upstream<Upstream>> = true;

}  // namespace mallard
