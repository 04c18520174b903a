// text_writer: a journal as text, one line an event, readable by text_source.
//
// What the form cannot say is left out and counted. A reallocation becomes the free of the old
// block and an allocation; entry points, alignments and contexts are lost. Times become ns by the clock's
// rate as it is known when writing begins.
#pragma once

#include <cstdint>
#include <functional>
#include <ostream>

#include "journal/events/event_source.hpp"

namespace mallard::journal {

struct text_written {
  std::uint64_t lines = 0;
  std::uint64_t left_out = 0;  // region events
};

// Reads `from` to its end. The state of `to` says whether writing failed. `heard`, if it is not empty, is
// called after every batch with the share that is done, 0..1, and may throw.
text_written write_text(event_source& from, std::ostream& to, const std::function<void(double)>& heard = {});

}  // namespace mallard::journal
