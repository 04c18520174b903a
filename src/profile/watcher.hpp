// watcher: what is told of every object while a journal is read.
//
//     born(slot, o) ----> died(slot, o)         o.death and all that belongs to it is known
//                   \---> survived(slot, o)     at the end of the journal
//
// A slot is the number of the object's place among the live ones, dense from 0 and taken again after
// the object's end, so that a watcher can keep what it knows of live objects in an array. Calls come in
// the order of the events; a reallocation is the death of one object, then the birth of the next.
#pragma once

#include <cstdint>

#include "profile/object.hpp"

namespace mallard::profile {

class watcher {
 public:
  virtual ~watcher() = default;

  virtual void born(std::uint32_t slot, const object& o) = 0;
  virtual void died(std::uint32_t slot, const object& o) = 0;
  virtual void survived(std::uint32_t slot, const object& o) = 0;
};

}  // namespace mallard::profile
