// object_stream: the objects of a journal as columns, a batch at a time.
//
//     object_stream objects("run.mlrd");
//     while (objects.next(batch)) { ... }        // objects that have ended; at last, those that live on
//
// One pass over the journal; memory for the live objects and one batch. Beside the objects it keeps the
// timeline of the whole program and the moment of its peak.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "journal/event_source.hpp"
#include "profile/pairing.hpp"

namespace mallard::profile {

// Columns of equal length; the meaning of each is that of the member of object with its name.
struct object_batch {
  std::vector<std::uint64_t> birth, death, previous, birth_time, death_time, address, size, alignment, between;
  std::vector<float> birth_ns, death_ns;
  std::vector<std::uint32_t> context, death_context, thread, death_thread, region;
  std::vector<std::uint8_t> kind, death_kind, origin, size_class;

  [[nodiscard]] std::size_t count() const noexcept { return birth.size(); }
};

// One row a span of equal time. Only the malloc family counts.
struct timeline {
  std::uint64_t bucket_ns = 0;              // of each row
  std::vector<std::uint64_t> live_bytes;    // the most in it
  std::vector<std::uint64_t> live_objects;  // the most in it
  std::vector<std::uint64_t> held_bytes;    // the most bytes of pages that hold anything alive
  std::vector<std::uint64_t> allocations;   // begun in it
};

struct region_instance {
  std::uint64_t created = no_event;
  std::uint64_t ended = no_event;  // destroyed, or it lived on
  std::uint32_t parent = 0;        // number of the instance, from 1; 0: a root
  std::uint32_t context = 0;       // of its creation
  std::uint64_t clears = 0;
  std::uint64_t objects = 0;
  std::uint64_t bytes = 0;  // requested, all its objects together
  std::uint64_t max_live_bytes = 0;
};

// Known when next() has returned false.
struct stream_totals {
  pairing_counts counts{};
  std::uint64_t end_time = 0;    // ns, of the last event
  std::uint64_t allocations = 0;  // objects begun, of the malloc family
  std::uint64_t bytes = 0;
  std::uint64_t peak_event = 0;  // the first with the most live bytes
  std::uint64_t peak_time = 0;   // ns
  std::uint64_t peak_live_bytes = 0;
  std::uint64_t peak_live_objects = 0;  // at that event
  std::uint64_t end_live_bytes = 0;
  std::uint64_t end_live_objects = 0;
  profile::timeline over_time{};
  std::vector<region_instance> regions{};  // by number, the first is 1
};

class object_stream {
 public:
  // Throws journal::error.
  explicit object_stream(const std::filesystem::path& path);
  ~object_stream();
  object_stream(const object_stream&) = delete;
  object_stream& operator=(const object_stream&) = delete;

  // Replaces the contents of `batch` by the next 2^18 objects or fewer; false if there are none left.
  bool next(object_batch& batch);

  // The share of the journal that has been read, 0..1.
  [[nodiscard]] double progress() const;

  [[nodiscard]] const stream_totals& totals() const;
  [[nodiscard]] const journal::event_source& source() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace mallard::profile
