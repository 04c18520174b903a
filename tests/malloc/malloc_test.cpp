// The malloc as a program has it: this program is linked with it, and others have it preloaded.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <latch>
#include <map>
#include <new>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "malloc/heap_of_thread.hpp"
#include "scratch_folder.hpp"
#include "slow_tests.hpp"

extern "C" void mallard_malloc_stats() noexcept;
extern "C" void* __libc_malloc(std::size_t size);
extern "C" void free_sized(void* p, std::size_t size) noexcept;
extern "C" void free_aligned_sized(void* p, std::size_t align, std::size_t size) noexcept;

// The malloc asks for memory by way of this (CMakeLists.txt), which refuses now and then where a test says
// so.
extern "C" void* __real_mmap(void* at, std::size_t size, int protection, int flags, int file, off_t offset);
namespace {
std::atomic<unsigned> refused_one_in = 0;
std::atomic<unsigned> mmap_calls = 0;
std::atomic<unsigned> mmap_refusals = 0;
}  // namespace
extern "C" void* __wrap_mmap(void* at, std::size_t size, int protection, int flags, int file, off_t offset) {
  if (refused_one_in != 0 && ++mmap_calls % refused_one_in == 0) {
    ++mmap_refusals;
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return __real_mmap(at, size, protection, flags, file, offset);
}

// By this it moves the pages of blocks. Where a test says so, it refuses as Linux before 6.17 does for pages
// of more than one mapping: when what was mapped at the new place is gone.
extern "C" void* __real_mremap(void* from, std::size_t size, std::size_t new_size, int flags, ...);
namespace {
std::atomic<bool> are_moves_refused = false;
}
extern "C" void* __wrap_mremap(void* from, std::size_t size, std::size_t new_size, int flags, ...) {
  std::va_list rest;
  va_start(rest, flags);
  void* const to = va_arg(rest, void*);
  va_end(rest);
  if (!are_moves_refused) return __real_mremap(from, size, new_size, flags, to);
  ::munmap(to, new_size);
  errno = EFAULT;
  return MAP_FAILED;
}

namespace {

constexpr std::size_t page = 4096;

bool is_aligned(const void* p, std::size_t align) { return reinterpret_cast<std::uintptr_t>(p) % align == 0; }
bool is_zero(const void* p, std::size_t bytes) {
  const auto* const c = static_cast<const unsigned char*>(p);
  return std::all_of(c, c + bytes, [](unsigned char x) { return x == 0; });
}

// No compiler may reason about what malloc does here.
template <class T>
T* hidden(T* p) {
  asm volatile("" : "+r"(p) : : "memory");
  return p;
}
std::size_t hidden(std::size_t n) {
  asm volatile("" : "+r"(n));
  return n;
}

// Runs f in a child process; whether it returned true.
template <class F>
bool holds_in_a_child(F f) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(f() ? 0 : 1);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// What a command of the shell prints, errors included.
std::string output_of(const std::string& command) {
  std::string result;
  FILE* const pipe = ::popen((command + " 2>&1").c_str(), "r");
  std::array<char, 4096> piece{};
  while (const std::size_t n = std::fread(piece.data(), 1, piece.size(), pipe))
    result.append(piece.data(), n);
  result += "exit " + std::to_string(::pclose(pipe));
  return result;
}

TEST(Malloc, ThisProgramHasIt) {
  Dl_info of_malloc{};
  Dl_info of_stats{};
  ASSERT_NE(::dladdr(reinterpret_cast<void*>(&std::malloc), &of_malloc), 0);
  ASSERT_NE(::dladdr(reinterpret_cast<void*>(&mallard_malloc_stats), &of_stats), 0);
  EXPECT_EQ(of_malloc.dli_fbase, of_stats.dli_fbase);
}

TEST(Malloc, BlocksOfEverySizeAreAlignedWritableAndApart) {
  std::vector<std::pair<unsigned char*, std::size_t>> all;
  for (std::size_t size = 0; size < 300000; size += size < 2000 ? 1 : size / 7) {
    auto* const p = static_cast<unsigned char*>(hidden(std::malloc(size)));
    ASSERT_NE(p, nullptr);
    EXPECT_TRUE(is_aligned(p, 16));
    EXPECT_GE(::malloc_usable_size(p), size);
    std::memset(p, static_cast<int>(size % 251), ::malloc_usable_size(p));
    all.emplace_back(p, size);
  }
  for (const auto& [p, size] : all) {
    EXPECT_EQ(p[0], size % 251);
    EXPECT_EQ(p[::malloc_usable_size(p) - 1], size % 251);
    std::free(p);
  }
}

TEST(Malloc, CallocClearsWhatWasUsedBefore) {
  for (const std::size_t size : {1u, 16u, 100u, 1024u, 1025u, 30000u, 40000u, 500000u, 5000000u}) {
    for (int round = 0; round != 3; ++round) {
      void* const p = hidden(std::calloc(size, 1));
      ASSERT_NE(p, nullptr);
      EXPECT_TRUE(is_zero(p, size)) << size;
      std::memset(p, 255, ::malloc_usable_size(p));
      std::free(p);
    }
  }
}

TEST(Malloc, ReallocKeepsContentsOnAnyWay) {
  std::mt19937 random(3);
  auto* p = static_cast<unsigned char*>(std::malloc(10));
  std::memset(p, 1, 10);
  std::size_t size = 10;
  for (int i = 0; i != 400; ++i) {
    const std::size_t next = 1 + (random() % 4 == 0 ? random() % 3000000 : random() % 3000);
    auto* const moved = static_cast<unsigned char*>(std::realloc(p, next));
    ASSERT_NE(moved, nullptr);
    for (std::size_t at = 0; at < std::min(size, next); at += 97) ASSERT_EQ(moved[at], 1);
    std::memset(moved, 1, next);
    p = moved, size = next;
  }
  std::free(p);
}

// Blocks of memory that others have used, as long as memory lasts that nobody has.
bool is_calloc_zero() {
  std::vector<void*> all;
  bool result = true;
  for (const std::size_t size : {60000u, 120000u, 190000u, 400000u})
    for (int i = 0; i != 100; ++i) {
      all.push_back(hidden(std::calloc(size, 1)));
      result &= is_zero(all.back(), size);
    }
  for (void* p : all) std::free(p);
  return result;
}
void leave_dirty_memory() {
  ::malloc_trim(0);
  void* const p = hidden(std::malloc(4 << 20));
  std::memset(p, 255, 4 << 20);
  std::free(hidden(p));
}

TEST(Malloc, CallocClearsWhatABlockHadRoomToGrowInto) {
  leave_dirty_memory();
  void* const p = std::realloc(hidden(std::malloc(20000)), 60000);
  std::free(hidden(p));
  EXPECT_TRUE(is_calloc_zero());
}

TEST(Malloc, CallocClearsWhatABlockHasMovedFrom) {
  leave_dirty_memory();
  void* const p = hidden(std::malloc(150000));
  void* const behind = hidden(std::malloc(150000));
  void* const moved = hidden(std::realloc(p, 400000));
  EXPECT_TRUE(is_calloc_zero());
  std::free(behind), std::free(moved);
}

TEST(Malloc, ABlockWhosePagesCannotBeMovedIsCopied) {
  EXPECT_TRUE(holds_in_a_child([] {
    are_moves_refused = true;
    auto* p = static_cast<unsigned char*>(std::malloc(200000));
    std::memset(p, 3, 200000);
    void* const behind = hidden(std::malloc(100000));
    p = static_cast<unsigned char*>(std::realloc(p, 500000));
    const bool is_same = std::all_of(p, p + 200000, [](unsigned char c) { return c == 3; });
    std::memset(p, 4, 500000);
    std::free(behind), std::free(p);
    return is_same && is_calloc_zero();
  }));
}

TEST(Malloc, ABlockThatGrowsStepByStepHardlyEverMoves) {
  std::size_t moves = 0;
  char* p = static_cast<char*>(std::malloc(100000));
  p[0] = 'x';
  for (std::size_t size = 100000; size < 40000000; size += size / 8) {
    char* const next = static_cast<char*>(std::realloc(p, size));
    ASSERT_NE(next, nullptr);
    next[size - 1] = 'y';
    moves += next != p;
    p = next;
  }
  EXPECT_EQ(p[0], 'x');
  EXPECT_LE(moves, 12u);
  std::free(p);
}

TEST(Malloc, ReallocToNothingFreesAndOfNothingAllocates) {
  void* const p = std::realloc(nullptr, 100);
  ASSERT_NE(p, nullptr);
  EXPECT_EQ(hidden(std::realloc(p, hidden(std::size_t{0}))), nullptr);
  EXPECT_EQ(::reallocarray(nullptr, hidden(SIZE_MAX / 2), 3), nullptr);
  void* const a = ::reallocarray(nullptr, 10, 30);
  EXPECT_GE(::malloc_usable_size(a), 300u);
  std::free(a);
}

TEST(Malloc, AlignmentsAreServed) {
  for (std::size_t align = 8; align <= std::size_t{64} << 20; align *= 2) {
    for (const std::size_t size : {std::size_t{1}, align / 2, align + 1, std::size_t{5000}}) {
      void* p = nullptr;
      ASSERT_EQ(::posix_memalign(&p, align, size), 0);
      EXPECT_TRUE(is_aligned(p, align));
      std::memset(p, 1, size);
      void* const q = std::aligned_alloc(align, size);
      void* const r = ::memalign(align, size);
      EXPECT_TRUE(is_aligned(q, align) && is_aligned(r, align));
      std::free(p), std::free(q), free_aligned_sized(r, align, size);
    }
  }
  void* const v = ::valloc(10);
  void* const w = ::pvalloc(page + 1);
  EXPECT_TRUE(is_aligned(v, page) && is_aligned(w, page));
  EXPECT_GE(::malloc_usable_size(w), 2 * page);
  std::free(v), free_sized(w, page + 1);
  void* const odd = ::memalign(hidden(48), 10);
  EXPECT_TRUE(is_aligned(odd, 64));
  std::free(odd);
}

TEST(Malloc, AbsurdRequestsAreRefusedAndSay) {
  const auto refuses = [](auto request) {
    errno = 0;
    return hidden(request()) == nullptr && errno == ENOMEM;
  };
  for (const std::size_t size : {SIZE_MAX, SIZE_MAX - 15, std::size_t{PTRDIFF_MAX},
                                 std::size_t{PTRDIFF_MAX} + 1, std::size_t{1} << 46}) {
    EXPECT_TRUE(refuses([=] { return std::malloc(hidden(size)); })) << size;
    EXPECT_TRUE(refuses([=] { return std::calloc(hidden(size), 1); })) << size;
    EXPECT_TRUE(refuses([=] { return ::memalign(64, hidden(size)); })) << size;
    EXPECT_TRUE(refuses([=] { return ::memalign(std::size_t{1} << 20, hidden(size)); })) << size;
    EXPECT_TRUE(refuses([=] { return ::valloc(hidden(size)); })) << size;
    EXPECT_TRUE(refuses([=] { return ::pvalloc(hidden(size)); })) << size;
  }
  EXPECT_TRUE(refuses([] { return std::calloc(hidden(SIZE_MAX / 2), 3); }));
  void* p = std::malloc(10);
  EXPECT_TRUE(refuses([=] { return std::realloc(p, hidden(SIZE_MAX)); }));
  EXPECT_TRUE(refuses([=] { return ::reallocarray(p, hidden(SIZE_MAX / 2), 3); }));
  std::free(p);
  EXPECT_EQ(::posix_memalign(&p, 24, 10), EINVAL);
  EXPECT_EQ(::posix_memalign(&p, 4, 10), EINVAL);
  EXPECT_EQ(::posix_memalign(&p, 0, 10), EINVAL);
  EXPECT_EQ(::posix_memalign(&p, 64, hidden(SIZE_MAX)), ENOMEM);
  errno = 0;
  EXPECT_EQ(::memalign(hidden((SIZE_MAX / 2) + 2), 1), nullptr);
  EXPECT_EQ(errno, EINVAL);
  for (const std::size_t align : {std::size_t{0}, std::size_t{3}, std::size_t{48}, SIZE_MAX}) {
    errno = 0;
    EXPECT_EQ(::aligned_alloc(hidden(align), 96), nullptr) << align;
    EXPECT_EQ(errno, EINVAL) << align;
  }
  EXPECT_TRUE(refuses([] { return ::aligned_alloc(64, hidden(SIZE_MAX)); }));
  p = std::malloc(1000000);
  EXPECT_TRUE(refuses([=] { return std::realloc(p, hidden(std::size_t{PTRDIFF_MAX} + 1)); }));
  std::free(p);
}

// Each is a block of its own, which has to be freed.
TEST(Malloc, BlocksOfNoBytesAreBlocks) {
  const auto make_all = [] {
    void* of_posix = nullptr;
    EXPECT_EQ(::posix_memalign(&of_posix, 64, hidden(std::size_t{0})), 0);
    return std::array{hidden(std::malloc(0)),
                      hidden(std::calloc(hidden(std::size_t{0}), 8)),
                      hidden(std::calloc(8, 0)),
                      hidden(std::realloc(nullptr, 0)),
                      hidden(::aligned_alloc(64, 0)),
                      hidden(::memalign(4096, 0)),
                      hidden(::valloc(0)),
                      hidden(::pvalloc(0)),
                      hidden(::operator new(0)),
                      hidden(::operator new[](0)),
                      hidden(::reallocarray(nullptr, 0, 8)),
                      of_posix};
  };
  const auto some = make_all();
  const auto more = make_all();
  std::set<void*> apart(some.begin(), some.end());
  apart.insert(more.begin(), more.end());
  EXPECT_EQ(apart.size(), some.size() + more.size());
  EXPECT_EQ(apart.count(nullptr), 0u);
  for (void* p : apart) std::free(p);
  EXPECT_EQ(hidden(std::realloc(std::malloc(10), hidden(std::size_t{0}))), nullptr);
}

TEST(Malloc, ErrnoStaysWhatItWas) {
  errno = 5;
  std::vector<void*> all;
  for (std::size_t size = 1; size < 10000000; size += size / 2 + 1) all.push_back(hidden(std::malloc(size)));
  for (void* p : all) std::free(p);
  std::free(nullptr);
  EXPECT_EQ(errno, 5);
}

TEST(Malloc, OperatorsInEveryForm) {
  struct alignas(256) wide {
    char c[300];
  };
  delete hidden(new int(3));
  delete[] hidden(new int[100]);
  delete hidden(new (std::nothrow) int(3));
  wide* const one = hidden(new wide);
  wide* const many = hidden(new wide[3]);
  wide* const quiet = hidden(new (std::nothrow) wide);
  EXPECT_TRUE(is_aligned(one, 256) && is_aligned(many, 256) && is_aligned(quiet, 256));
  delete one;
  delete[] many;
  delete quiet;
  ::operator delete(::operator new(100), std::size_t{100});
  ::operator delete[](::operator new[](100), std::size_t{100});
  ::operator delete(::operator new(100), std::nothrow);
  ::operator delete[](::operator new[](100, std::nothrow), std::nothrow);
  constexpr std::align_val_t align{256};
  void* const aligned = ::operator new[](100, align, std::nothrow);
  EXPECT_TRUE(is_aligned(aligned, 256));
  ::operator delete[](aligned, align, std::nothrow);
  ::operator delete(::operator new(100, align, std::nothrow), align, std::nothrow);
  ::operator delete(::operator new(100, align), std::size_t{100}, align);
  ::operator delete[](::operator new[](100, align), std::size_t{100}, align);
}

std::atomic<int> handler_calls = 0;

TEST(Malloc, AFailedNewCallsItsHandlerAndThrows) {
  EXPECT_THROW((void)hidden(::operator new(hidden(SIZE_MAX))), std::bad_alloc);
  EXPECT_THROW((void)hidden(::operator new[](hidden(SIZE_MAX), std::align_val_t{64})), std::bad_alloc);
  EXPECT_EQ(hidden(::operator new(hidden(SIZE_MAX), std::nothrow)), nullptr);
  EXPECT_EQ(hidden(::operator new(hidden(SIZE_MAX), std::align_val_t{64}, std::nothrow)), nullptr);
  handler_calls = 0;
  std::set_new_handler([] {
    if (++handler_calls == 3) std::set_new_handler(nullptr);
  });
  EXPECT_THROW((void)hidden(::operator new(hidden(SIZE_MAX))), std::bad_alloc);
  EXPECT_EQ(handler_calls, 3);
  std::set_new_handler([] { throw std::bad_alloc(); });
  EXPECT_EQ(hidden(::operator new(hidden(SIZE_MAX), std::nothrow)), nullptr);
  std::set_new_handler(nullptr);
}

// A library that was loaded with RTLD_DEEPBIND has the C library's malloc.
TEST(Malloc, BlocksOfTheCLibrarysOwnMallocAreItsToFree) {
  void* p = __libc_malloc(100);
  EXPECT_GE(::malloc_usable_size(p), 100u);
  std::memset(p, 3, 100);
  p = std::realloc(p, 100000);
  EXPECT_EQ(static_cast<char*>(p)[99], 3);
  std::free(p);
}

TEST(Malloc, ALibraryThatLooksIntoTheCLibraryFirstSharesIt) {
  for (const int mode : {RTLD_NOW | RTLD_DEEPBIND, RTLD_LAZY | RTLD_DEEPBIND}) {
    void* const library = ::dlopen(MALLARD_DEEP_LIBRARY, mode);
    ASSERT_NE(library, nullptr) << ::dlerror();
    const auto find = [library]<class F>(const char* name, F*) {
      return reinterpret_cast<F*>(::dlsym(library, name));
    };
    auto* const end = find("end", static_cast<void (*)(void*)>(nullptr));
    auto* const end_indirectly = find("end_indirectly", static_cast<void (*)(void*)>(nullptr));
    auto* const make = find("make", static_cast<void* (*)(std::size_t)>(nullptr));
    auto* const copy = find("copy", static_cast<char* (*)(const char*)>(nullptr));
    for (const std::size_t size : {100u, 50000u, 5000000u}) {
      end(std::malloc(size));
      end_indirectly(std::malloc(size));
      void* const p = make(size);
      EXPECT_EQ(::malloc_usable_size(p), ::malloc_usable_size(hidden(std::malloc(size))));
      std::free(p);
    }
    char* const text = copy("text");
    EXPECT_STREQ(text, "text");
    std::free(text);
    ::dlclose(library);
  }
  EXPECT_EQ(::dlopen("/no/such/library.so", RTLD_NOW | RTLD_DEEPBIND), nullptr);
  EXPECT_NE(::dlopen("libm.so.6", RTLD_NOW | RTLD_DEEPBIND), nullptr);
}

TEST(Malloc, ThreadsOpenAndCloseSuchLibrariesAtOnce) {
  EXPECT_TRUE(holds_in_a_child([] {
    std::vector<std::thread> threads;
    for (int t = 0; t != 4; ++t)
      threads.emplace_back([] {
        for (int i = 0; i != 500; ++i) {
          void* const library =
              ::dlopen(MALLARD_DEEP_LIBRARY, (i % 2 == 0 ? RTLD_NOW : RTLD_LAZY) | RTLD_DEEPBIND);
          if (library == nullptr) ::_exit(2);
          reinterpret_cast<void (*)(void*)>(::dlsym(library, "end"))(hidden(std::malloc(100)));
          ::dlclose(library);
        }
      });
    for (std::thread& t : threads) t.join();
    return true;
  }));
}

TEST(Malloc, MemoryGoesBackWhenItIsTrimmed) {
  std::vector<void*> all;
  for (int i = 0; i != 3000; ++i) {
    all.push_back(std::malloc(10000));
    std::memset(all.back(), 1, 10000);
  }
  const struct mallinfo2 full = ::mallinfo2();
  EXPECT_GE(full.uordblks, 30000000u);
  for (void* p : all) std::free(p);
  EXPECT_EQ(::malloc_trim(0), 1);
  const struct mallinfo2 trimmed = ::mallinfo2();
  EXPECT_LT(trimmed.uordblks, full.uordblks - 29000000);
  EXPECT_LT(trimmed.arena, full.arena - 29000000);
}

TEST(Malloc, WhatThreadsLeftGoesBackWhenItIsTrimmed) {
  std::vector<void*> all(30000);
  std::thread([&all] {
    for (void*& p : all) p = hidden(std::malloc(1000));
  }).join();
  const struct mallinfo2 full = ::mallinfo2();
  for (void* p : all) std::free(p);
  EXPECT_EQ(::malloc_trim(0), 1);
  EXPECT_LT(::mallinfo2().arena, full.arena - 29000000);
}

// More threads than ever live at once end with what they held going to those that follow.
TEST(Malloc, ThreadsComeAndGo) {
  std::array<std::atomic<void*>, 256> shared{};
  const auto work = [&shared](unsigned seed) {
    std::mt19937 random(seed);
    std::vector<void*> own;
    for (int i = 0; i != 3000; ++i) {
      const std::size_t size = 1 + (random() % 50 == 0 ? random() % 200000 : random() % 500);
      auto* p = static_cast<unsigned char*>(std::malloc(size));
      *p = 1;
      p[size - 1] = 1;
      if (random() % 3 == 0)
        std::free(shared[random() % shared.size()].exchange(p));
      else if (random() % 2 == 0)
        own.push_back(p);
      else
        std::free(p);
    }
    for (void* p : own) std::free(p);
  };
  for (unsigned round = 0; round != 20; ++round) {
    std::vector<std::thread> threads;
    for (unsigned t = 0; t != 8; ++t) threads.emplace_back(work, round * 8 + t);
    for (std::thread& t : threads) t.join();
  }
  for (auto& p : shared) std::free(p.exchange(nullptr));
  EXPECT_LT(::mallinfo2().uordblks, std::size_t{64} << 20);
}

// In a child, which ends where the system allows fewer.
TEST(Malloc, AThousandThreadsAllocateAtATime) {
  EXPECT_TRUE(holds_in_a_child([] {
    std::array<void*, 1000> blocks{};
    std::latch all_have(blocks.size());
    std::atomic<int> changed = 0;
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i != blocks.size(); ++i)
      threads.emplace_back([&, i] {
        blocks[i] = std::memset(std::malloc(100), static_cast<int>(i % 256), 100);
        all_have.arrive_and_wait();
        const std::size_t other = (i + 1) % blocks.size();
        if (static_cast<unsigned char*>(blocks[other])[99] != other % 256) ++changed;
        std::free(blocks[other]);
      });
    for (std::thread& t : threads) t.join();
    return changed == 0 && std::set<void*>(blocks.begin(), blocks.end()).size() == blocks.size();
  }));
}

pthread_key_t late_key;

// Destructors of keys run after the malloc's own, again and again, and allocate and free there.
TEST(Malloc, AThreadMayAllocateInItsLastDestructors) {
  ASSERT_EQ(::pthread_key_create(&late_key,
                                 [](void* p) {
                                   std::free(p);
                                   void* const next = std::malloc(4000);
                                   std::memset(next, 1, 4000);
                                   ::pthread_setspecific(late_key, next);
                                 }),
            0);
  for (int i = 0; i != 200; ++i)
    std::thread([] { ::pthread_setspecific(late_key, std::malloc(100)); }).join();
  ::pthread_key_delete(late_key);
}

TEST(Malloc, AChildOfABusyProcessAllocatesAndFrees) {
  std::atomic<bool> stop = false;
  std::vector<std::thread> busy;
  for (unsigned t = 0; t != 3; ++t)
    busy.emplace_back([&stop, t] {
      std::mt19937 random(t);
      std::vector<void*> all(200);
      while (!stop) {
        void*& p = all[random() % all.size()];
        std::free(p);
        p = std::malloc(random() % 20 == 0 ? 100000 : random() % 1000);
      }
      for (void* p : all) std::free(p);
    });
  std::vector<void*> before(1000);
  for (void*& p : before) p = std::malloc(100);
  for (int i = 0; i != 60; ++i)
    EXPECT_TRUE(holds_in_a_child([&] {
      for (void* p : before) std::free(p);
      std::vector<void*> all;
      for (std::size_t n = 0; n != 2000; ++n) {
        all.push_back(std::malloc(n * 40));
        if (all.back() == nullptr) return false;
        *static_cast<char*>(all.back()) = 1;
      }
      for (void* p : all) std::free(p);
      std::thread([] { std::free(std::malloc(1000)); }).join();
      return true;
    }));
  stop = true;
  for (std::thread& t : busy) t.join();
  for (void* p : before) std::free(p);
}

void* kept_over_fork = nullptr;
void change_what_is_kept() {
  std::free(kept_over_fork);
  kept_over_fork = std::malloc(3000000);
  std::free(std::malloc(50000));
}

// Registered before the malloc's own handlers, so it runs while they hold its locks.
void register_early_handlers(int, char**, char**) {
  ::pthread_atfork(change_what_is_kept, change_what_is_kept, change_what_is_kept);
}
[[gnu::section(".preinit_array"),
  gnu::used]] void (*const before_all_constructors)(int, char**, char**) = register_early_handlers;

TEST(Malloc, HandlersOfForkMayAllocate) {
  std::free(std::exchange(kept_over_fork, nullptr));
  EXPECT_TRUE(holds_in_a_child([] {
    std::free(std::malloc(1000000));
    return kept_over_fork != nullptr;
  }));
  EXPECT_NE(kept_over_fork, nullptr);
}

TEST(Malloc, MemoryThatRunsOutIsNullAndLeavesTheRestIntact) {
  EXPECT_TRUE(holds_in_a_child([] {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const rlimit limit{std::size_t{700} << 20, std::size_t{700} << 20};
    ::setrlimit(RLIMIT_AS, &limit);
    for (int round = 0; round != 3; ++round) {
      std::size_t total = 0;
      void* newest = nullptr;  // blocks are linked, so that the test needs no memory of its own
      for (const std::size_t size :
           {std::size_t{3000000}, std::size_t{50000}, std::size_t{3000}, std::size_t{40}}) {
        for (;;) {
          errno = 0;
          auto* const p = static_cast<void**>(hidden(std::malloc(size)));
          if (p == nullptr) break;
          p[0] = newest;
          p[1] = reinterpret_cast<void*>(size);
          newest = p;
          total += size;
        }
        if (errno != ENOMEM) return false;
      }
      if (total < std::size_t{300} << 20) return false;
      while (newest != nullptr) {
        void** const p = static_cast<void**>(newest);
        total -= reinterpret_cast<std::size_t>(p[1]);
        newest = p[0];
        std::free(p);
      }
      if (total != 0) return false;
    }
    return std::malloc(100) != nullptr;
  }));
}

unsigned char mark_of(const void* p) {
  return static_cast<unsigned char>(reinterpret_cast<std::uintptr_t>(p) >> 4);
}

TEST(Malloc, AnyRefusedMappingIsNullAtMost) {
  for (const unsigned one_in : {1u, 2u, 3u, 7u}) {
    EXPECT_TRUE(holds_in_a_child([one_in] {
      refused_one_in = one_in;
      std::mt19937 random(one_in);
      std::vector<unsigned char*> live(3000);
      for (int i = 0; i != 60000; ++i) {
        unsigned char*& p = live[random() % live.size()];
        if (p != nullptr && *p != mark_of(p)) return false;
        const std::size_t size = 1 + (random() % 9 == 0 ? random() % 400000 : random() % 2000);
        errno = 0;
        auto* const next =
            static_cast<unsigned char*>(random() % 4 == 0 ? std::realloc(p, size) : std::malloc(size));
        if (next == nullptr) {
          if (errno != ENOMEM) return false;
          continue;
        }
        if (random() % 2 == 0) ::malloc_trim(0);
        p = next;
        *p = mark_of(p);
      }
      return mmap_refusals != 0;
    })) << one_in;
  }
}

TEST(Malloc, StatisticsTellTheClassesInUse) {
  std::vector<void*> all;
  for (int i = 0; i != 777; ++i) all.push_back(std::malloc(900));
  testing::internal::CaptureStderr();
  mallard_malloc_stats();
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_NE(told.find("KiB in use"), std::string::npos);
  EXPECT_NE(told.find("960"), std::string::npos) << told;
  for (void* p : all) std::free(p);
}

#if defined(MALLARD_STATIC_PROGRAM)
TEST(Malloc, AFailedNewThrowsInAStaticProgram) {
  EXPECT_EQ(output_of(MALLARD_STATIC_PROGRAM), "std::bad_alloc\nexit 0");
}
#endif

// --- preloaded into others ---------------------------------------------------------------------------------

TEST(PreloadedMalloc, ProgramsPrintWhatTheyPrintWithoutIt) {
  const std::string preload = "LD_PRELOAD=" MALLARD_MALLOC " ";
  for (const std::string command : {
           "ls -la /usr/bin",
           "perl -e 'my %h; $h{$_} = \"v$_\" x 3 for 1..20000; print join(q(,), map { $h{$_} } sort keys "
           "%h)'",
           "PYTHONMALLOC=malloc /usr/bin/python3 -c 'import json; print(json.dumps([{str(i): [i] * 3} for i "
           "in range(9000)]))'",
           "/usr/bin/python3 -c 'from concurrent.futures import ThreadPoolExecutor as pool; "
           "print(sum(pool(8).map(lambda i: len(str(i) * i), range(2000))))'",
           "sh -c 'for i in 1 2 3 4 5; do echo $i | sort | uniq -c; done'",
           "xz -c /etc/passwd | xz -dc",
       }) {
    const std::string without = output_of(command);
    EXPECT_EQ(output_of("export " + preload + "; " + command), without) << command;
  }
}

TEST(PreloadedMalloc, StatisticsAreToldAtTheEndOnRequest) {
  const std::string told = output_of("LD_PRELOAD=" MALLARD_MALLOC " MALLARD_MALLOC_STATS=1 /bin/true");
  EXPECT_EQ(told.find("mallard-malloc: "), 0u) << told;
  EXPECT_EQ(output_of("LD_PRELOAD=" MALLARD_MALLOC " /bin/true"), "exit 0");
}

// A command of the shell in a folder, with the malloc in all that it starts; what it prints.
std::string preloaded_in(const std::filesystem::path& folder, const std::string& options,
                         const std::string& command) {
  return output_of("cd " + folder.string() + " && LD_PRELOAD=" MALLARD_MALLOC " " + options + " " + command);
}

TEST(PreloadedMalloc, StatisticsGoToAFileOfEachProcess) {
  const mallard::test::scratch_folder folder;
  const std::string printed = preloaded_in(folder / "", "MALLARD_MALLOC_STATS=told.%p.txt",
                                           "perl -e 'system(\"/bin/true\"); chdir(\"/\")'");
  EXPECT_EQ(printed, "exit 0");
  EXPECT_EQ(folder.names().size(), 2u) << "of perl and its child, wherever perl has gone";
  for (const std::string& name : folder.names())
    EXPECT_EQ(mallard::test::contents(folder / name).find("mallard-malloc: "), 0u) << name;
}

TEST(PreloadedMalloc, StatisticsAreJsonIfTheFileIsCalledSo) {
  const mallard::test::scratch_folder folder;
  for (int times = 1; times != 3; ++times) {
    EXPECT_EQ(preloaded_in(folder / "", "MALLARD_MALLOC_STATS=told.json", "perl -e 1"), "exit 0");
    EXPECT_EQ(std::ranges::count(mallard::test::contents(folder / "told.json"), '\n'), times)
        << "a line each";
  }
  const std::string told =
      output_of("jq -r '.used_bytes > 0 and (.classes | length) > 0' " + (folder / "told.json").string());
  EXPECT_EQ(told, "true\ntrue\nexit 0");
}

TEST(PreloadedMalloc, FreedMemoryIsKeptAsLongAsTheOptionSays) {
  const mallard::test::scratch_folder folder;
  for (const std::string decay : {"0", "60000"}) {
    const std::string options =
        "MALLARD_MALLOC_DECAY_MS=" + decay + " MALLARD_MALLOC_STATS=" + decay + ".json";
    (void)preloaded_in(folder / "", options, "perl -e 'my $s = \"x\" x 5000000; undef $s'");
  }
  EXPECT_EQ(output_of("jq .kept_bytes " + (folder / "0.json").string()), "0\nexit 0");
  EXPECT_EQ(output_of("jq '.kept_bytes >= 5000000' " + (folder / "60000.json").string()), "true\nexit 0");
}

TEST(PreloadedMalloc, WhatCannotBeToldHarmsNobody) {
  const mallard::test::scratch_folder folder;
  const std::string unwritable = preloaded_in(folder / "", "MALLARD_MALLOC_STATS=none/told.txt", "/bin/true");
  EXPECT_NE(unwritable.find("MALLARD_MALLOC_STATS: cannot write /"), std::string::npos) << unwritable;
  EXPECT_NE(unwritable.find("exit 0"), std::string::npos) << unwritable;
  for (const std::string name : {"SEGV", "KILL", "9", "0", "1000", "nonsense"}) {
    const std::string refused = preloaded_in(folder / "", "MALLARD_MALLOC_SIGNAL=" + name, "/bin/true");
    EXPECT_NE(refused.find(name + " is no signal to report at"), std::string::npos) << refused;
    EXPECT_NE(refused.find("exit 0"), std::string::npos) << refused;
  }
  EXPECT_EQ(output_of("bash -c 'set -o pipefail; LD_PRELOAD=" MALLARD_MALLOC
                      " MALLARD_MALLOC_STATS=1 /bin/true 2>&1 | true'"),
            "exit 0")
      << "nobody reads what is reported at the end";
}

TEST(PreloadedMalloc, ASignalMakesItTell) {
  const mallard::test::scratch_folder folder;
  for (const std::string name : {"USR2", "SIGUSR2", "12"}) {
    const std::string told = preloaded_in(folder / "", "MALLARD_MALLOC_SIGNAL=" + name,
                                          "sh -c 'kill -USR2 $$; kill -USR2 $$; echo alive'");
    EXPECT_EQ(told.find("mallard-malloc: "), 0u) << told;
    EXPECT_NE(told.find("alive\nexit 0"), std::string::npos) << told;
  }
}

// Whatever it interrupts, and whatever else handles the signal.
TEST(PreloadedMalloc, EightThreadsForkOpenLibrariesAndAreInterrupted) {
  const mallard::test::scratch_folder folder;
  const std::string told =
      preloaded_in(folder / "", "MALLARD_MALLOC_SIGNAL=USR2 MALLARD_MALLOC_STATS=told.%p.json",
                   MALLARD_MALLOC_STRESS " --turns 15");
  EXPECT_NE(told.find("operations, "), std::string::npos) << told;
  EXPECT_EQ(told.find(" 0 signals"), std::string::npos) << told;
  EXPECT_NE(told.find("exit 0"), std::string::npos) << told;
  EXPECT_FALSE(folder.names().empty());
}

TEST(PreloadedMalloc, TheStressFindsADamagedByte) {
  const std::string told =
      output_of("LD_PRELOAD=" MALLARD_MALLOC " " MALLARD_MALLOC_STRESS " --turns 1000 --damage");
  EXPECT_NE(told.find("malloc_stress: damaged: the block at "), std::string::npos) << told;
  EXPECT_NE(told.find("exit 256"), std::string::npos) << told;
}

// What a call by a witness takes from without a look at the pool.
TEST(RememberedSlab, ServesTheSizesOfItsClassAsLongAsItIsThePools) {
  using namespace mallard::malloc_library;
  for (const pool::extent extent : {pool::extent::segment, pool::extent::part}) {
    heap owner(the_segments);
    remembered_slab kept;
    EXPECT_FALSE(kept.serves(1));
    pool p(&owner, 0, &kept, extent);
    for (const auto& [first, last] : {std::pair(1u, 16u), {33u, 48u}, {257u, 288u}, {961u, 1024u}}) {
      void* const block = owner.allocate_from(p, heap::classes::index(last, 1));
      ASSERT_NE(block, nullptr);
      p.remember(first);
      EXPECT_EQ(kept.slab, the_segments.find_part(block));
      EXPECT_TRUE(kept.serves(first) && kept.serves(last));
      EXPECT_FALSE(kept.serves(last + 1));
      EXPECT_EQ(kept.serves(first - 1), first == 1);
      void* const next = heap::slabs::take_from(*kept.slab);
      EXPECT_EQ(the_segments.find_part(next), kept.slab);
      EXPECT_EQ(static_cast<std::byte*>(next) - static_cast<std::byte*>(block), last);
      owner.deallocate(next);
    }
    std::vector<void*> more(1000);  // of slabs that go back when the last block of theirs is freed
    for (void*& block : more) {
      block = owner.allocate_from(p, heap::classes::index(1024, 1));
      p.remember(1024);
    }
    for (void* block : more) owner.deallocate(block);
    EXPECT_FALSE(kept.serves(1024));
    (void)owner.allocate_from(p, heap::classes::index(48, 1));
    p.remember(48);
    p.trim(0);
    EXPECT_FALSE(kept.serves(48));
    p.release();
  }
}

// Instructions of a whole run, as callgrind counts them.
double instructions_of(const std::string& arguments) {
  const std::string told =
      output_of("LD_PRELOAD=" MALLARD_MALLOC
                " valgrind --tool=callgrind --callgrind-out-file=/dev/null " MALLARD_MALLOC_PAIRS " " +
                arguments);
  const std::size_t at = told.find("Collected : ");
  EXPECT_NE(at, std::string::npos) << told;
  return at == std::string::npos ? 0 : std::strtod(told.c_str() + at + 12, nullptr);
}

// With the loop around it, two jumps into the library, and a write to the block: 15 together.
TEST(PreloadedMalloc, APairTakesFewInstructions) {
  if (output_of("valgrind --version").find("valgrind-") != 0) GTEST_SKIP() << "needs valgrind";
  std::map<std::string, double> most{{"64 4096", 50}, {"8192 1", 70}, {"40000 1", 380}};
  if (mallard::test::slow_tests) most.insert({{"16 1", 50}, {"128 1", 50}, {"32 64", 50}});
  for (const auto& [size_and_live, instructions] : most) {
    const double once = instructions_of(size_and_live + " 8192");
    const double thrice = instructions_of(size_and_live + " 24576");
    EXPECT_LE((thrice - once) / 16384, instructions) << size_and_live;
  }
}

TEST(PreloadedMalloc, NeedsNothingButTheCLibrary) {
  for (const char* library : {MALLARD_MALLOC, MALLARD_CHECKED_MALLOC}) {
    const std::string needs = output_of("readelf -d " + std::string(library) + " | grep NEEDED");
    EXPECT_EQ(std::ranges::count(needs, '\n'), 1) << needs;
    EXPECT_NE(needs.find("libc.so.6"), std::string::npos);
  }
}

// If one were missing, the C library's would serve its calls, and ours would be asked to free its blocks.
TEST(PreloadedMalloc, ExportsTheEntryPointsAndNothingElse) {
  const std::string both =
      "__register_atfork aligned_alloc calloc cfree dlopen free free_aligned_sized free_sized "
      "mallard_malloc_stats mallinfo2 malloc malloc_trim malloc_usable_size memalign posix_memalign pvalloc "
      "realloc reallocarray valloc ";
  const auto exports = [](const char* library) {
    return output_of("nm -D --defined-only " + std::string(library) +
                     " | awk '!/ T _Z[nd][wal]/{printf \"%s \", $NF}'");
  };
  const auto operators = [](const char* library) {
    return output_of("nm -D --defined-only " + std::string(library) + " | grep -c ' T _Z[nd][wal]'");
  };
  EXPECT_EQ(exports(MALLARD_MALLOC), both + "exit 0");
  EXPECT_EQ(operators(MALLARD_MALLOC), "20\nexit 0");
  std::string checked = both + "exit 0";
  EXPECT_EQ(exports(MALLARD_CHECKED_MALLOC), checked.insert(checked.find("dlopen"), "dlclose "));
  EXPECT_EQ(operators(MALLARD_CHECKED_MALLOC), "20\nexit 0");
}

}  // namespace
