// events, region_events: small journals written by hand, of blocks and of regions, for the tests of replay.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "journal/events/batch_of.hpp"
#include "replay/trace/region_trace_builder.hpp"
#include "replay/trace/scheduler.hpp"
#include "replay/trace/trace_builder.hpp"

namespace mallard::replay::testing {

// A file that routes the events of a journal, for as long as it lives.
class route_file {
 public:
  explicit route_file(const std::vector<std::uint32_t>& heaps) {
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(heaps.data()),
               static_cast<std::streamsize>(heaps.size() * sizeof(std::uint32_t)));
  }
  ~route_file() { std::filesystem::remove(path_); }
  route_file(const route_file&) = delete;
  route_file& operator=(const route_file&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_ = ::testing::TempDir() + "routes_" + std::to_string(::getpid()) + ".u32";
};

class events {
 public:
  events& add(journal::event_kind kind, std::uint64_t address, std::uint64_t size = 0,
              std::uint64_t old_address = 0, std::uint64_t alignment = 0) {
    rows_.push_back({.kind = kind,
                     .thread = thread_,
                     .time = rows_.size(),
                     .address = address,
                     .size = size,
                     .alignment = alignment,
                     .old_address = old_address});
    heaps_.push_back(journal::is_free(kind) ? 0 : heap_);
    return *this;
  }
  events& malloc(std::uint64_t address, std::uint64_t size) {
    return add(journal::event_kind::malloc, address, size);
  }
  events& calloc(std::uint64_t address, std::uint64_t size) {
    return add(journal::event_kind::calloc, address, size);
  }
  events& memalign(std::uint64_t address, std::uint64_t size, std::uint64_t alignment) {
    return add(journal::event_kind::memalign, address, size, 0, alignment);
  }
  events& realloc(std::uint64_t old_address, std::uint64_t address, std::uint64_t size) {
    return add(journal::event_kind::realloc, address, size, old_address);
  }
  events& free(std::uint64_t address) { return add(journal::event_kind::free, address); }
  // With the number of in_heap(), which a file of routes has for no free but one that is left out.
  events& free_too(std::uint64_t address) {
    free(address);
    heaps_.back() = heap_;
    return *this;
  }
  events& on_thread(std::uint32_t thread) {
    thread_ = thread;
    return *this;
  }

  // Where blocks are allocated from here on, as a file of routes has it.
  events& in_heap(std::uint32_t heap) {
    heap_ = heap;
    return *this;
  }
  [[nodiscard]] const std::vector<std::uint32_t>& heaps() const { return heaps_; }

  // `first` is the number of the first of them.
  void add_to(trace_builder& builder, double ticks_per_second = 1e9, std::uint64_t first = 0) const {
    builder.add(journal::batch_of(rows_, first), ticks_per_second);
  }

  [[nodiscard]] trace build() const {
    trace_builder builder;
    add_to(builder);
    return builder.finish();
  }

  // With heaps of their own for what is in them.
  [[nodiscard]] trace build_part() const {
    const route_file file(heaps_);
    const part_routes routes(file.path());
    trace_builder builder(false, &routes);
    add_to(builder);
    return builder.finish();
  }
  [[nodiscard]] trace schedule_part() const {
    const route_file file(heaps_);
    const part_routes routes(file.path());
    trace_builder builder(true, &routes);
    add_to(builder);
    const trace blocks = builder.finish();
    return replay::schedule(blocks, builder.threads().lives({}, blocks.ops().size()), {}, builder.heaps());
  }

  // As a trace of threads; threads live from their first event to their last.
  [[nodiscard]] trace schedule(std::uint64_t window = default_window) const {
    return schedule({.window = window});
  }
  [[nodiscard]] trace schedule(const schedule_options& options) const {
    trace_builder builder(true);
    add_to(builder);
    const trace blocks = builder.finish();
    return replay::schedule(blocks, builder.threads().lives({}, blocks.ops().size()), options);
  }

 private:
  std::vector<journal::event> rows_;
  std::vector<std::uint32_t> heaps_;  // by row
  std::uint32_t thread_ = 0;
  std::uint32_t heap_ = 0;
};

// What `threads` threads do in `count` events: allocations, and of any thread's blocks frees and
// reallocations. The first thread lives all along.
inline events random_history(std::uint32_t threads, std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  events history;
  std::vector<std::uint64_t> live;
  std::uint64_t next = 1;
  const auto some_size = [&random] { return 1 + random() % 300; };
  history.malloc(next++, 64);
  for (std::size_t i = 1; i + 1 < count; ++i) {
    history.on_thread(static_cast<std::uint32_t>(random() % threads));
    const std::uint64_t what = live.empty() ? 0 : random() % 10;
    if (what < 5) {
      live.push_back(next);
      history.malloc(next++, some_size());
      continue;
    }
    std::uint64_t& block = live[random() % live.size()];
    if (what < 6) {
      history.realloc(block, next, some_size());
      block = next++;
    } else {
      history.free(block);
      block = live.back();
      live.pop_back();
    }
  }
  history.on_thread(0).free(1);
  return history;
}

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
