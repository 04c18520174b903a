// memory_resource_source: any std::pmr::memory_resource as a source.
//
//     heap --allocate--> memory_resource_source --allocate--> std::pmr::memory_resource
//     null or a block <--------------- bad_alloc caught --------------
//
// Sizes are rounded up to a multiple of the alignment before they go upstream, because some resources
// align a block only as its size suggests (libstdc++'s pools give 24 bytes at 16 misaligned).
// Cost: two virtual calls a pair. The resource must outlive the source.
#pragma once

#include <cstddef>
#include <memory_resource>

#include "mallard/core/align.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/check.hpp"

namespace mallard {

class memory_resource_source {
 public:
  explicit memory_resource_source(
      std::pmr::memory_resource* resource = std::pmr::new_delete_resource()) noexcept
      : resource_(resource) {
    MALLARD_CHECK(resource != nullptr);
  }
  memory_resource_source(const memory_resource_source&) = delete;
  memory_resource_source& operator=(const memory_resource_source&) = delete;

  [[nodiscard]] std::pmr::memory_resource* resource() const noexcept { return resource_; }

  // NOLINTNEXTLINE(readability-convert-member-functions-to-static): a heap's member
  [[nodiscard]] std::size_t received_size(std::size_t size, std::size_t align) const noexcept {
    if (size > max_request || align > max_request) return 0;
    const std::size_t received = align_up(size == 0 ? 1 : size, align);
    return received > max_request ? 0 : received;
  }

  [[nodiscard]] block allocate(std::size_t size, std::size_t align) noexcept {
    MALLARD_CHECK(is_valid_align(align));
    const std::size_t received = received_size(size, align);
    if (received == 0) return {};
    try {
      return {resource_->allocate(received, align), received};
    } catch (...) {
      return {};
    }
  }

  void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    resource_->deallocate(p, received_size(size, align), align);
  }

 private:
  std::pmr::memory_resource* resource_;
};

}  // namespace mallard
