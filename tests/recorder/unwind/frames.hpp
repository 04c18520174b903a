// Frames of the shapes that compilers make; frames.cpp is compiled with and without frame pointers.
#pragma once

#include <cstddef>

namespace mallard::recorder::test {

using callback = void (*)(void*);

namespace with_pointers {
void plain(int depth, callback inner, void* data);
void with_alloca(std::size_t bytes, callback inner, void* data);
void over_aligned(callback inner, void* data);
void over_aligned_with_alloca(std::size_t bytes, callback inner, void* data);
void with_many_arguments(callback inner, void* data);
}  // namespace with_pointers

namespace without_pointers {
void plain(int depth, callback inner, void* data);
void with_alloca(std::size_t bytes, callback inner, void* data);
void over_aligned(callback inner, void* data);
void over_aligned_with_alloca(std::size_t bytes, callback inner, void* data);
void with_many_arguments(callback inner, void* data);
}  // namespace without_pointers

}  // namespace mallard::recorder::test
