// events: small journals written by hand, for the tests of replay.
#pragma once

#include <cstdint>

#include "journal/event_batch.hpp"
#include "replay/trace_builder.hpp"

namespace mallard::replay::testing {

class events {
 public:
  events& add(journal::event_kind kind, std::uint64_t address, std::uint64_t size = 0,
              std::uint64_t old_address = 0, std::uint64_t alignment = 0) {
    batch_.kind.push_back(kind);
    batch_.time.push_back(batch_.time.size());
    batch_.thread.push_back(thread_);
    batch_.context.push_back(0);
    batch_.address.push_back(address);
    batch_.size.push_back(size);
    batch_.alignment.push_back(alignment);
    batch_.old_address.push_back(old_address);
    batch_.region.push_back(0);
    batch_.parent.push_back(0);
    return *this;
  }
  events& malloc(std::uint64_t address, std::uint64_t size) {
    return add(journal::event_kind::malloc, address, size);
  }
  events& memalign(std::uint64_t address, std::uint64_t size, std::uint64_t alignment) {
    return add(journal::event_kind::memalign, address, size, 0, alignment);
  }
  events& realloc(std::uint64_t old_address, std::uint64_t address, std::uint64_t size) {
    return add(journal::event_kind::realloc, address, size, old_address);
  }
  events& free(std::uint64_t address) { return add(journal::event_kind::free, address); }
  events& on_thread(std::uint32_t thread) {
    thread_ = thread;
    return *this;
  }

  void add_to(trace_builder& builder) const { builder.add(batch_); }

  [[nodiscard]] trace build() const {
    trace_builder builder;
    add_to(builder);
    return builder.finish();
  }

 private:
  journal::event_batch batch_;
  std::uint32_t thread_ = 0;
};

}  // namespace mallard::replay::testing
