// region_events: small journals of regions written by hand.
#pragma once

#include <cstdint>
#include <vector>

#include "journal/events/batch_of.hpp"
#include "replay/trace/region_trace_builder.hpp"

namespace mallard::replay::testing {

class region_events {
 public:
  region_events& create(std::uint64_t region, std::uint64_t parent = 0) {
    return add({.kind = journal::event_kind::region_create, .region = region, .parent = parent});
  }
  region_events& allocate(std::uint64_t region, std::uint64_t address, std::uint64_t size,
                          std::uint64_t alignment = 0) {
    return add({.kind = journal::event_kind::region_allocate,
                .address = address,
                .size = size,
                .alignment = alignment,
                .region = region});
  }
  region_events& free(std::uint64_t region, std::uint64_t address) {
    return add({.kind = journal::event_kind::region_free, .address = address, .region = region});
  }
  region_events& clear(std::uint64_t region) {
    return add({.kind = journal::event_kind::region_clear, .region = region});
  }
  region_events& destroy(std::uint64_t region) {
    return add({.kind = journal::event_kind::region_destroy, .region = region});
  }
  region_events& add(journal::event e) {
    e.time = rows_.size();
    rows_.push_back(e);
    return *this;
  }

  [[nodiscard]] const std::vector<journal::event>& rows() const { return rows_; }

  [[nodiscard]] trace build() const {
    region_trace_builder builder;
    builder.add(journal::batch_of(rows_));
    return builder.finish();
  }

 private:
  std::vector<journal::event> rows_;
};

}  // namespace mallard::replay::testing
