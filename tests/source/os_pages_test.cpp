#include "mallard/source/os_pages.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "mallard/core/attributes.hpp"
#include "mallard/core/concepts.hpp"
#include "source/taken_mappings.hpp"

namespace mallard {
namespace {

static_assert(heap<os_pages> && predictable<os_pages>);
static_assert(!layered<os_pages>);

// Pages of address space of this process.
std::size_t mapped_pages() {
  char text[64] = {};
  const int file = ::open("/proc/self/statm", O_RDONLY);
  EXPECT_GT(::read(file, text, sizeof text - 1), 0);
  ::close(file);
  return std::strtoul(text, nullptr, 10);
}

bool is_mapped(void* page) { return ::msync(page, os_pages::page_size(), MS_ASYNC) == 0; }

TEST(OsPages, GivesWholePages) {
  os_pages pages;
  const std::size_t page = os_pages::page_size();
  for (std::size_t size : {std::size_t{0}, std::size_t{1}, page, page + 1, 10 * page}) {
    const block b = pages.allocate(size, 1);
    ASSERT_TRUE(b);
    EXPECT_TRUE(is_aligned(b.data, page));
    EXPECT_EQ(b.size, align_up(size == 0 ? 1 : size, page));
    EXPECT_EQ(pages.received_size(size, 1), b.size);
    std::memset(b.data, 1, b.size);
    pages.deallocate(b.data, size, 1);
    EXPECT_FALSE(is_mapped(b.data));
  }
}

// Blocks side by side are one mapping, which one taken out of the middle makes two.
#if !MALLARD_ADDRESS_SANITIZED  // whose runtime needs mappings, too
TEST(OsPages, GivesMemoryBackAtTheKernelsLimitOfMappings) {
  os_pages pages;
  const std::size_t page = os_pages::page_size();
  block all[3];
  for (block& b : all) std::memset((b = pages.allocate(page, page)).data, 1, page);
  unsigned char resident = 1;
  {
    const taken_mappings nearly_all(0);
    pages.deallocate(all[1].data, page, page);
    if (::mincore(all[1].data, page, &resident) != 0) resident = 0;
  }
  EXPECT_EQ(resident & 1, 0);
  if (is_mapped(all[1].data)) ::munmap(all[1].data, page);
  pages.deallocate(all[0].data, page, page);
  pages.deallocate(all[2].data, page, page);
}
#endif

TEST(OsPages, KeepsNothingAroundAnOverAlignedBlock) {
  os_pages pages;
  const std::size_t page = os_pages::page_size();
  for (std::size_t align = page; align <= (std::size_t{64} << 20); align *= 2) {
    const std::size_t before = mapped_pages();
    const block b = pages.allocate(3 * page, align);
    EXPECT_EQ(mapped_pages(), before + 3);
    ASSERT_TRUE(b);
    EXPECT_TRUE(is_aligned(b.data, align));
    EXPECT_EQ(b.size, 3 * page);
    std::byte* const start = static_cast<std::byte*>(b.data);
    EXPECT_TRUE(is_mapped(start) && is_mapped(start + 2 * page));
    pages.deallocate(b.data, b.size, align);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_FALSE(is_mapped(start + i * page));
  }
}

TEST(OsPages, TakesBackAnySizeUpToTheReceivedOne) {
  os_pages pages;
  const std::size_t page = os_pages::page_size();
  const block b = pages.allocate(page + 1, 8);
  pages.deallocate(b.data, page + 77, 8);
  EXPECT_FALSE(is_mapped(b.data));
  EXPECT_FALSE(is_mapped(static_cast<std::byte*>(b.data) + page));
}

TEST(OsPages, ARefusedHintLeavesErrno) {
  os_pages pages;
  const std::size_t page = os_pages::page_size();
  const block gone = pages.allocate(page, page);
  pages.deallocate(gone.data, page, page);
  errno = 77;
  os_pages::populate(gone.data, page);
  EXPECT_EQ(errno, 77);
}

TEST(OsPages, AnswersWhatCannotBeMappedWithNull) {
  os_pages pages;
  const std::size_t huge = static_cast<std::size_t>(-1);
  EXPECT_EQ(pages.allocate(huge, 1), block{});
  EXPECT_EQ(pages.allocate(max_request, 1), block{});
  EXPECT_EQ(pages.allocate(max_request - os_pages::page_size(), 1), block{});
  EXPECT_EQ(pages.allocate(1, std::size_t{1} << 63), block{});
  EXPECT_EQ(pages.allocate(max_request - os_pages::page_size(), std::size_t{1} << 62), block{});
}

}  // namespace
}  // namespace mallard
