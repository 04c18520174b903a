#include "harness/memory_meter.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>

namespace mallard::harness {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

void* pages(std::size_t bytes) {
  return ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

TEST(MemoryMeter, TouchedPagesAreResidentAndThePeakOutlivesThem) {
  map_in_code();
  reset_peak();
  const std::size_t before = resident_exactly();
  const std::size_t peak_before = peak_resident();
  const auto faults = page_faults();
  void* p = pages(32 * mebibyte);
  std::memset(p, 1, 32 * mebibyte);
  EXPECT_GE(resident_exactly() - before, 32 * mebibyte);
  EXPECT_GT(page_faults(), faults);
  ::munmap(p, 32 * mebibyte);
  EXPECT_LT(resident_exactly() - before, 8 * mebibyte);
  EXPECT_GE(peak_resident() - peak_before, 31 * mebibyte);
}

TEST(MemoryMeter, AMachineHasMemoryToGive) { EXPECT_GT(available_memory(), 16 * mebibyte); }

TEST(MemoryMeter, DataBeyondTheLimitIsRefusedButSharedMemoryIsNot) {
  const auto limited = [] {
    const bool in_force = limit_data(16 * mebibyte);
    void* within = pages(4 * mebibyte);
    void* beyond = pages(64 * mebibyte);
    void* shared = ::mmap(nullptr, 64 * mebibyte, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    std::_Exit(in_force && within != MAP_FAILED && beyond == MAP_FAILED && shared != MAP_FAILED ? 0 : 1);
  };
  EXPECT_EXIT(limited(), testing::ExitedWithCode(0), "");
}

TEST(MemoryMeter, ALimitBeyondAllNumbersIsNone) {
  const auto limited = [] {
    const bool in_force = limit_data(SIZE_MAX);
    std::_Exit(in_force && pages(64 * mebibyte) != MAP_FAILED ? 0 : 1);
  };
  EXPECT_EXIT(limited(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace mallard::harness
