#include "harness/memory_meter.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <nlohmann/json.hpp>
#include <system_error>
#include <thread>

#include "harness/cpu_clock.hpp"
#include "harness/machine.hpp"
#include "harness/mapping.hpp"

namespace mallard::harness {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

void* pages(std::size_t bytes) {
  return ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

TEST(MemoryMeter, TouchedPagesAreResidentAndThePeakOutlivesThem) {
  map_in_code();
  reset_peak();
  const auto before = static_cast<std::ptrdiff_t>(resident_exactly());
  const std::size_t peak_before = peak_resident();
  const auto faults = page_faults();
  void* p = pages(32 * mebibyte);
  std::memset(p, 1, 32 * mebibyte);
  const auto more = [before] { return static_cast<std::ptrdiff_t>(resident_exactly()) - before; };
  EXPECT_GE(more(), 32 * std::ptrdiff_t{mebibyte});
  EXPECT_GT(page_faults(), faults);
  ::munmap(p, 32 * mebibyte);
  EXPECT_LT(more(), 8 * std::ptrdiff_t{mebibyte});
  EXPECT_GE(peak_resident(), peak_before + 31 * mebibyte);
}

TEST(MemoryMeter, PagesOfFilesAreNotCounted) {
  const int file = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  ASSERT_GE(file, 0);
  const std::size_t before = resident_exactly();
  void* p = ::mmap(nullptr, mebibyte, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
  ::close(file);
  ASSERT_NE(p, MAP_FAILED);
  EXPECT_LT(resident_exactly(), before + mebibyte / 4);
  ::munmap(p, mebibyte);
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

TEST(Machine, NothingATableNeedsIsMissing) {
  const machine_facts facts = this_machine();
  EXPECT_FALSE(facts.cpu.empty());
  EXPECT_GT(facts.cores, 0u);
  EXPECT_GT(facts.memory, 0u);
  EXPECT_TRUE(facts.kernel.starts_with("Linux "));
  EXPECT_FALSE(facts.transparent_huge_pages.empty());
  EXPECT_TRUE(facts.c_library.starts_with("glibc 2."));
  EXPECT_TRUE(facts.compiler.starts_with("gcc ") || facts.compiler.starts_with("clang "));
  EXPECT_NE(facts.flags.find("-O"), std::string::npos);
}

TEST(Machine, HasEveryFactInJson) {
  const machine_facts facts{"a processor", 2, 1024, "Linux", "madvise", "glibc", "gcc", "-O2"};
  EXPECT_EQ(to_json(facts).dump(),
            R"({"cpu":"a processor","cores":2,"memory":1024,"kernel":"Linux",)"
            R"("transparent_huge_pages":"madvise","c_library":"glibc","compiler":"gcc","flags":"-O2"})");
}

// Waits until this thread has used some CPU time.
void work() {
  const std::uint64_t start = thread_cpu_ns();
  while (thread_cpu_ns() - start < 5'000'000) {
  }
}

TEST(CpuClock, AnotherThreadsWorkCountsForTheProcessOnly) {
  const std::uint64_t thread_before = thread_cpu_ns();
  const std::uint64_t process_before = process_cpu_ns();
  std::thread(work).join();
  const std::uint64_t of_thread = thread_cpu_ns() - thread_before;
  EXPECT_GE(process_cpu_ns() - process_before, of_thread + 5'000'000u);
}

TEST(Mapping, ASharedFileGrowsAndKeepsWhatItHolds) {
  shared_file file(10);
  std::memcpy(file.data(), "mallard", 8);
  file.resize(1 << 20);
  EXPECT_EQ(file.size(), 1u << 20);
  EXPECT_STREQ(static_cast<char*>(file.data()), "mallard");
  EXPECT_EQ(static_cast<char*>(file.data())[file.size() - 1], 0);
}

TEST(Mapping, WhatOneSideWritesTheOtherReads) {
  const shared_file ours(4096);
  const shared_file theirs(::dup(ours.descriptor()), access::read);
  std::memcpy(ours.data(), "seen", 5);
  EXPECT_EQ(theirs.size(), ours.size());
  EXPECT_STREQ(static_cast<char*>(theirs.data()), "seen");
}

TEST(Mapping, AMovedFromFileHoldsNothing) {
  shared_file first(1);
  shared_file second(std::move(first));
  EXPECT_EQ(first.data(), nullptr);
  second = shared_file(2);
  EXPECT_NE(second.data(), nullptr);
}

TEST(Mapping, ScratchIsZeroAndMayBeEmpty) {
  const scratch memory(4096, fill::at_first_touch);
  EXPECT_EQ(static_cast<char*>(memory.data())[4095], 0);
  EXPECT_NE(scratch(0, fill::before_use).data(), nullptr);
}

TEST(Mapping, ADescriptorThatIsNoneIsAnError) {
  EXPECT_THROW(shared_file(-1, access::read), std::system_error);
}

}  // namespace
}  // namespace mallard::harness
