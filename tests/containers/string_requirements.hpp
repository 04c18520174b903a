// What is demanded alike of std's and Boost's strings over a Memory: a string stays with its heap.
#pragma once

#include <gtest/gtest.h>

#include <utility>

namespace mallard::containers {

inline constexpr const char* short_text = "duck";
inline constexpr const char* long_text = "a text that is too long to stand inside of a string";

template <class String, class Memory>
struct string_requirements {
  static bool stands_in(const String& s, Memory& memory) { return memory.blocks().has(s.data()); }

  static void moves_between_heaps() {
    Memory memory;
    Memory other;
    String original(long_text, memory.get());
    String copy(original, other.get());
    EXPECT_TRUE(stands_in(copy, other));
    memory.blocks().fail_from(1);
    String moved(std::move(original));
    String again(short_text, memory.get());
    again = std::move(moved);
    again.swap(moved);
    moved.swap(again);
    memory.blocks().fail_at(0);
    EXPECT_EQ(again, long_text);
    EXPECT_TRUE(stands_in(again, memory));
    copy = short_text;
    copy = std::move(again);
    EXPECT_EQ(copy, long_text);
    EXPECT_TRUE(stands_in(copy, other));
    const String elsewhere(std::move(copy), memory.get());
    EXPECT_TRUE(stands_in(elsewhere, memory));
  }
};

}  // namespace mallard::containers
