// Winkouts: objects that end with their heap, and whose destructors never run.
#include <array>
#include <list>
#include <memory_resource>
#include <string>
#include <vector>

#include "mallard/allocator/winkout.hpp"
#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/source/os_pages.hpp"

// A heap that cannot end its blocks all at once: what is built there would never end.
// error: this owner cannot end its blocks all at once
namespace from_a_heap_without_release {
#if defined(MISTAKE_FROM_A_HEAP_WITHOUT_RELEASE)
using owner = mallard::os_pages;
#else
using owner = mallard::basic_monotonic<mallard::counting<mallard::os_pages>>;
#endif

int& build(owner& heap) { return mallard::winkout<int>(heap, 1); }
}  // namespace from_a_heap_without_release

// The abstract base may be anything, the program's own heap as well: it does not say that it can release.
// error: this owner cannot end its blocks all at once
namespace from_any_memory_resource {
#if defined(MISTAKE_FROM_ANY_MEMORY_RESOURCE)
using owner = std::pmr::memory_resource;
#else
using owner = std::pmr::unsynchronized_pool_resource;
#endif

int& build(owner& memory) { return mallard::winkout<int>(memory, 1); }
}  // namespace from_any_memory_resource

// An object from arguments that none of its constructors takes.
// error: T has no constructor for these arguments
namespace from_wrong_arguments {
struct point {
  point(int x, int y) : x_(x), y_(y) {}
  int x_;
  int y_;
};

#if defined(MISTAKE_FROM_WRONG_ARGUMENTS)
point& build(mallard::monotonic& heap) { return mallard::winkout<point>(heap, "one"); }
#else
point& build(mallard::monotonic& heap) { return mallard::winkout<point>(heap, 1, 2); }
#endif
}  // namespace from_wrong_arguments

// A destructor that does something, and a type that does not promise that it may be left out.
// error: the destructor of T would never run
namespace of_a_destructor {
struct door {
  ~door() { open = false; }
  bool open = true;
};
}  // namespace of_a_destructor
#if !defined(MISTAKE_OF_A_DESTRUCTOR)
template <>
inline constexpr bool mallard::winkout_safe<of_a_destructor::door> = true;
#endif
namespace of_a_destructor {
door& build(mallard::monotonic& heap) { return mallard::winkout<door>(heap); }
}  // namespace of_a_destructor

// A string whose characters are malloc's: nobody would give them back.
// error: the destructor of T would never run
namespace of_a_std_string {
#if defined(MISTAKE_OF_A_STD_STRING)
using text = std::string;
#else
using text = std::basic_string<char, std::char_traits<char>, mallard::allocator<char, mallard::multipool>>;
#endif

text& build(mallard::multipool& heap) { return mallard::winkout<text>(heap, "in the heap"); }
}  // namespace of_a_std_string

// Arrays of fixed size are asked for as std::array, others as T[] with a count.
// error: for an array of fixed size take std::array
namespace of_an_array_of_fixed_size {
void build(mallard::monotonic& heap) {
#if defined(MISTAKE_OF_AN_ARRAY_OF_FIXED_SIZE)
  (void)mallard::winkout<int[4]>(heap);
#else
  (void)mallard::winkout<std::array<int, 4>>(heap);
  (void)mallard::winkout<int[]>(heap, 4);
#endif
}
}  // namespace of_an_array_of_fixed_size

// A vector of one heap, built in another: the release would take the vector and leave its elements.
// error: T takes its memory from another kind of heap
namespace of_another_heap {
template <class Heap>
using numbers = std::vector<int, mallard::allocator<int, Heap>>;

void build(mallard::monotonic& arena, mallard::multipool& pools) {
#if defined(MISTAKE_OF_ANOTHER_HEAP)
  (void)mallard::winkout<numbers<mallard::multipool>>(arena,
                                                      mallard::allocator<int, mallard::multipool>(pools));
#else
  (void)mallard::winkout<numbers<mallard::multipool>>(pools);
  (void)mallard::winkout<numbers<mallard::monotonic>>(arena);
#endif
}
}  // namespace of_another_heap

// Elements that take their memory from another kind of heap than the container that they stand in.
// error: the destructor of T would never run
namespace of_elements_of_another_heap {
#if defined(MISTAKE_OF_ELEMENTS_OF_ANOTHER_HEAP)
using inner = std::vector<int, mallard::allocator<int, mallard::multipool>>;
#else
using inner = std::vector<int, mallard::allocator<int, mallard::monotonic>>;
#endif
using outer = std::list<inner, mallard::allocator<inner, mallard::monotonic>>;

outer& build(mallard::monotonic& arena) { return mallard::winkout<outer>(arena); }
}  // namespace of_elements_of_another_heap

// The vector is the heap's, the strings in it are malloc's.
// error: the destructor of T would never run
namespace of_elements_with_std_strings {
#if defined(MISTAKE_OF_ELEMENTS_WITH_STD_STRINGS)
using lines = std::pmr::vector<std::string>;
#else
using lines = std::pmr::vector<std::pmr::string>;
#endif

lines& build(mallard::resource<mallard::monotonic>& memory) { return mallard::winkout<lines>(memory); }
}  // namespace of_elements_with_std_strings

// The reference is the only way to the object, which nobody destroys.
// error: nodiscard
namespace that_forgets_its_object {
void build(mallard::monotonic& heap) {
#if defined(MISTAKE_THAT_FORGETS_ITS_OBJECT)
  mallard::winkout<int>(heap, 1);
#else
  mallard::winkout<int>(heap, 1) = 2;
#endif
}
}  // namespace that_forgets_its_object

// The heap comes first, then what the object is built from.
// error: the first argument is where to build
namespace without_a_heap {
int& build([[maybe_unused]] mallard::monotonic& heap) {
#if defined(MISTAKE_WITHOUT_A_HEAP)
  int number = 1;
  return mallard::winkout<int>(number, heap);
#else
  return mallard::winkout<int>(heap, 1);
#endif
}
}  // namespace without_a_heap
