// Boost's string over v2_allocator: characters that grow and shrink where they are, and stand inside when
// few.
#include <gtest/gtest.h>

#include <boost/container/string.hpp>
#include <new>
#include <string>

#include "containers/boost/memories.hpp"
#include "containers/string_requirements.hpp"

namespace mallard::containers {
namespace {

template <class Memory>
using string_of =
    boost::container::basic_string<char, std::char_traits<char>, typename Memory::template allocator<char>>;

template <class Memory>
struct string_checks : string_requirements<string_of<Memory>, Memory> {
  using string = string_of<Memory>;
  using string_requirements<string, Memory>::moves_between_heaps;
  using string_requirements<string, Memory>::stands_in;

  static void all() {
    grows_and_shrinks();
    moves_between_heaps();
    requests_that_fail();
  }

  static void grows_and_shrinks() {
    Memory memory;
    {
      string s(short_text, memory.get());
      std::string model(short_text);
      EXPECT_EQ(memory.blocks().live(), 0u) << "a short string needs no heap";
      for (int i = 0; i != 300; ++i) {
        s += long_text;
        model += long_text;
        s.insert(s.begin() + 2, 3, 'x');
        model.insert(2, 3, 'x');
        s.push_back('y');
        model.push_back('y');
      }
      EXPECT_EQ(model, s.c_str());
      EXPECT_TRUE(stands_in(s, memory));
      for (std::size_t length = s.size(); length > 40; length = length * 3 / 4) {
        s.resize(length);
        s.shrink_to_fit();
        EXPECT_EQ(model.compare(0, length, s.c_str()), 0);
      }
      s.erase(4);
      s.shrink_to_fit();
      EXPECT_EQ(s, string("duxx", memory.get()));
    }
    EXPECT_EQ(memory.blocks().live(), 0u);
  }

  // Whichever request fails, the text is what it was before.
  static void requests_that_fail() {
    for (int n = 1;; ++n) {
      SCOPED_TRACE(n);
      Memory memory;
      string s(short_text, memory.get());
      std::string model(short_text);
      bool failed = false;
      memory.blocks().fail_from(n);
      try {
        for (int i = 0; i != 100; ++i) {
          s += long_text;
          model += long_text;
        }
        s.insert(2, long_text);
        model.insert(2, long_text);
        s.reserve(s.size() + 10000);
      } catch (const std::bad_alloc&) {
        failed = true;
      }
      EXPECT_EQ(model, s.c_str());
      if (!failed || testing::Test::HasFailure()) {
        EXPECT_GT(n, 2) << "no request has failed";
        return;
      }
    }
  }
};

const bool held = register_for_arrays<string_checks>("string");

}  // namespace
}  // namespace mallard::containers
