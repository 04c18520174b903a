// watcher: what receives every object while a journal is read.
//
//     allocated(slot, o) ----> freed(slot, o)     o.free and all that belongs to it is known
//                        \---> leaked(slot, o)    at the end of the journal
//
// A slot is the number of the object's place among the live ones, dense from 0 and taken again after
// the object's end, so that a watcher can keep what it knows of live objects in an array. Calls come in
// the order of the events; a reallocation frees one object, then allocates the next.
//
// Regions go by their numbers, from 1 in the order in which they begin. What is in a region that
// ends or is cleared has been freed before, and the regions inside it have ended, outer ones first, by the
// same event.
#pragma once

#include <cstdint>

#include "profile/object.hpp"

namespace mallard::profile {

class watcher {
 public:
  virtual ~watcher() = default;

  virtual void allocated(std::uint32_t slot, const object& o) = 0;
  virtual void freed(std::uint32_t slot, const object& o) = 0;
  virtual void leaked(std::uint32_t slot, const object& o) = 0;

  // `parent` is a number, 0: a root. A region first seen in use has begun before the journal: its `event`
  // is no_event and its context 0.
  virtual void region_began(std::uint32_t /*number*/, std::uint32_t /*parent*/, std::uint64_t /*event*/,
                            std::uint32_t /*context*/) {}
  virtual void region_moved(std::uint32_t /*number*/, std::uint32_t /*parent*/) {}
  virtual void region_cleared(std::uint32_t /*number*/, std::uint64_t /*event*/) {}
  virtual void region_ended(std::uint32_t /*number*/, std::uint64_t /*event*/) {}
};

}  // namespace mallard::profile
