#include "harness/shifted_pages.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

#include "mallard/source/counting.hpp"

namespace mallard::harness {
namespace {

constexpr std::array<std::size_t, 5> shifts{0, 64, 1024, 2048, 4032};

std::size_t place_in_page(const block& b) { return reinterpret_cast<std::uintptr_t>(b.data) % 4096; }

TEST(ShiftedPages, BlocksBeginSoFarIntoTheirPage) {
  for (const std::size_t shift : shifts) {
    shifted_pages::shift = shift;
    shifted_pages source;
    for (const std::size_t size : {std::size_t{1}, std::size_t{8192}, std::size_t{1} << 20}) {
      const block b = source.allocate(size, 16);
      ASSERT_NE(b.data, nullptr);
      EXPECT_EQ(place_in_page(b), shift) << size;
      EXPECT_EQ(b.size, source.received_size(size, 16));
      EXPECT_GE(b.size, size);
      source.deallocate(b.data, b.size, 16);
    }
  }
  shifted_pages::shift = 0;
}

// Else a shift would cost its allocator what the others do not pay.
TEST(ShiftedPages, TakeTheSameOfTheProcessWhateverTheShift) {
  const auto mapped_for = [](std::size_t shift) {
    shifted_pages::shift = shift;
    process_chunks().trim(0);
    const std::size_t before = process_chunks().mapped();
    counting<shifted_pages> source;
    const block b = source.allocate(8192, 16);
    const std::size_t mapped = process_chunks().mapped() - before;
    EXPECT_EQ(source.held(), b.size);
    source.deallocate(b.data, 8192, 16);
    EXPECT_EQ(source.held(), 0u);
    return mapped;
  };
  for (const std::size_t shift : shifts) EXPECT_EQ(mapped_for(shift), 8192u + 4096) << shift;
  shifted_pages::shift = 0;
}

TEST(ShiftedPages, BlocksOfMoreAlignmentStayAndTakeNoMore) {
  shifted_pages::shift = 1024;
  shifted_pages source;
  process_chunks().trim(0);
  const std::size_t before = process_chunks().mapped();
  const block b = source.allocate(8192, 4096);
  EXPECT_EQ(place_in_page(b), 0u);
  EXPECT_EQ(process_chunks().mapped() - before, 8192u);
  source.deallocate(b.data, b.size, 4096);
  shifted_pages::shift = 0;
}

TEST(ShiftedPages, AShiftIsAMultipleOf64BelowAPage) {
  for (const std::size_t shift : shifts) EXPECT_TRUE(shifted_pages::can_be_shift(shift));
  for (const std::size_t other : {1u, 65u, 4096u, 8192u}) EXPECT_FALSE(shifted_pages::can_be_shift(other));
}

}  // namespace
}  // namespace mallard::harness
