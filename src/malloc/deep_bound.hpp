// deep_bound: what differs between the two builds when dlopen() brings libraries.
#pragma once

namespace mallard::malloc_library {

// Whether a block of new is none of malloc's, so that both ends have to meet the same operators. By each
// build.
extern const bool operators_have_blocks_of_their_own;

using library_listener = void(bool are_there) noexcept;

// Has `heard(true)` called when a library may have come, by any thread that has opened one, and
// `heard(false)` when one is about to, and nothing will say when. Once, before any thread is started.
void hear_of_libraries(library_listener* heard) noexcept;

}  // namespace mallard::malloc_library
