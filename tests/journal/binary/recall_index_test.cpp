#include "journal/binary/recall_index.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace mallard::journal {
namespace {

TEST(recall_index, agrees_with_a_map) {
  std::mt19937_64 random(5);
  recall_index index;
  for (int chunk = 0; chunk < 20; ++chunk) {
    std::map<std::uint64_t, std::size_t> last;
    for (std::size_t row = 0; row < 3000; ++row) {
      const std::uint64_t value = random() % 2 == 0 ? random() % 500 : random();
      const auto known = last.find(value);
      ASSERT_EQ(index.distance(value, row), known == last.end() ? 0 : row - known->second);
      index.note(value, row);
      last[value] = row;
    }
    index.forget();
  }
}

}  // namespace
}  // namespace mallard::journal
