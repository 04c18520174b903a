// Strings over every heap, alone and in containers that hand their heap on to them.
#include <gtest/gtest.h>

#include <map>
#include <memory_resource>
#include <scoped_allocator>
#include <string>
#include <vector>

#include "containers/heaps.hpp"
#include "containers/string_requirements.hpp"

namespace mallard::containers {
namespace {

// Gives its heap to its elements: std::pmr's allocator does by itself, ours within the standard's adaptor.
template <class T, class Memory>
struct handing_on {
  using type = std::scoped_allocator_adaptor<typename Memory::template allocator<T>>;
};
template <class T>
struct handing_on<T, pmr> {
  using type = pmr::allocator<T>;
};

template <class Memory>
using string_of = std::basic_string<char, std::char_traits<char>, typename Memory::template allocator<char>>;

template <class Memory>
struct string_checks : string_requirements<string_of<Memory>, Memory> {
  using string_requirements<string_of<Memory>, Memory>::moves_between_heaps;
  using string_requirements<string_of<Memory>, Memory>::stands_in;
  template <class T>
  using allocator = typename handing_on<T, Memory>::type;
  using string = string_of<Memory>;
  using lines = std::vector<string, allocator<string>>;
  using index = std::map<string, lines, std::less<>, allocator<std::pair<const string, lines>>>;

  static void all() {
    grows_and_shrinks();
    moves_between_heaps();
    fails_without_a_trace();
    elements_take_the_heap_of_their_container();
  }

  static void grows_and_shrinks() {
    Memory memory;
    string s(short_text, memory.get());
    EXPECT_EQ(memory.blocks().live(), 0u) << "a short string needs no heap";
    for (int i = 0; i != 1000; ++i) s += long_text;
    EXPECT_TRUE(stands_in(s, memory));
    s.resize(40);
    s.shrink_to_fit();
    EXPECT_EQ(s.compare(0, 16, "ducka text that "), 0);
    s.erase(4);
    s.shrink_to_fit();
    EXPECT_EQ(memory.blocks().live(), 0u);
  }

  static void fails_without_a_trace() {
    Memory memory;
    string s(short_text, memory.get());
    memory.blocks().fail_from(1);
    EXPECT_THROW(s += long_text, std::bad_alloc);
    EXPECT_THROW(s.reserve(100), std::bad_alloc);
    EXPECT_THROW(s.insert(2, long_text), std::bad_alloc);
    EXPECT_THROW(s = long_text, std::bad_alloc);
    EXPECT_EQ(s, short_text);
    memory.blocks().fail_at(0);
    s += long_text;
    EXPECT_EQ(s.compare(4, string::npos, long_text), 0);
  }

  static void elements_take_the_heap_of_their_container() {
    Memory memory;
    Memory other;
    index book(memory.get());
    for (int n = 0; n != 100; ++n)
      book[string(std::to_string(n % 10).c_str(), memory.get())].emplace_back(long_text);
    EXPECT_EQ(book.size(), 10u);
    for (const auto& [key, texts] : book) {
      EXPECT_EQ(texts.size(), 10u);
      for (const string& text : texts) EXPECT_TRUE(stands_in(text, memory));
    }
    index copy(book, other.get());
    for (const auto& [key, texts] : copy)
      for (const string& text : texts) EXPECT_TRUE(stands_in(text, other));
    copy.begin()->second = book.rbegin()->second;
    EXPECT_TRUE(stands_in(copy.begin()->second.front(), other));
    for (int n = 1; n != 50; n += 7) {
      other.blocks().fail_at(n);
      EXPECT_THROW((index(book, other.get())), std::bad_alloc);
      other.blocks().fail_at(0);
    }
  }
};

const bool held = register_for_heaps_of_any_size<string_checks>("strings");

}  // namespace
}  // namespace mallard::containers
