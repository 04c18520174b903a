// address_range: one range of addresses for the process's life, of which a growing part is memory.
//
//     begin                            memory                                     begin + size
//       | read and write .............. | mapped when it is needed ............... |
//                                       '--> extend()   <-- retract()
//
// One subtraction tells blocks of a range from all others, and a table with an entry for each piece
// of it needs no tree. The range is as large as the processor's addresses allow, and costs nothing: what is
// not memory yet is not mapped either, so neither a limit on addresses (ulimit -v) nor a tool that shows them
// counts it. It lies far from where the system places mappings, at a random place for each process, and takes
// nobody's addresses: a step that would meet another mapping fails. Where the system maps nothing that high
// (small address spaces, valgrind), or is too old to be asked without harm, it reserves half as much until it
// is given some. Memory is zero when it comes, and again after purge(). Not synchronised. Cost: a system call
// each.
#pragma once

#include <errno.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/core/check.hpp"

namespace mallard {

class address_range {
 public:
  constexpr address_range() = default;
  address_range(const address_range&) = delete;
  address_range& operator=(const address_range&) = delete;

  // Finds `most` bytes of addresses, or where the system refuses half as many, but no fewer than `least`,
  // from a multiple of `align` on: powers of two, at least a page. Once. False if there are none.
  [[nodiscard]] MALLARD_NOINLINE bool open(std::size_t most, std::size_t least, std::size_t align) noexcept {
    MALLARD_CHECK(begin_ == nullptr && is_valid_align(align));
    if (!MALLARD_THREAD_SANITIZED && claim(most, align)) return true;  // whose own memory lies there
    for (std::size_t bytes = most; bytes >= least; bytes /= 2) {
      const std::size_t mapped = bytes + align;
      void* const p = ::mmap(nullptr, mapped, PROT_NONE, quiet, -1, 0);
      if (p == MAP_FAILED) continue;
      const std::size_t before = padding_for(p, align);
      begin_ = static_cast<std::byte*>(p) + before;
      if (before != 0) ::munmap(p, before);
      ::munmap(begin_ + bytes, align - before);
      size_ = bytes;
      is_reserved_ = true;
      return true;
    }
    return false;
  }

  // Ends the range. Precondition: nothing of it is memory.
  void close() noexcept {
    if (is_reserved_) ::munmap(begin_, size_);
    is_reserved_ = false;
    begin_ = nullptr;
    size_ = 0;
  }

  [[nodiscard]] std::byte* begin() const noexcept { return begin_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  // Makes [from, from + bytes), pages of the range that are none, memory. False, with nothing changed, if the
  // system has none, or has given the addresses to somebody else: is_taken() tells which.
  [[nodiscard]] bool extend(std::byte* from, std::size_t bytes) noexcept {
    MALLARD_CHECK(is_within(from, bytes));
    is_taken_ = false;
    if (is_reserved_) return ::mprotect(from, bytes, PROT_READ | PROT_WRITE) == 0;
    return map_new(from, bytes);
  }
  // Whether the last extend() met a mapping of somebody else.
  [[nodiscard]] bool is_taken() const noexcept { return is_taken_; }

  // The opposite: the memory goes back, and with it what the system counts as promised.
  void retract(std::byte* from, std::size_t bytes) noexcept {
    MALLARD_CHECK(is_within(from, bytes));
    if (!is_reserved_)
      ::munmap(from, bytes);
    else if (::mmap(from, bytes, PROT_NONE, quiet | MAP_FIXED, -1, 0) == MAP_FAILED)
      purge(from, bytes);
  }

  // The pages go back to the system, and are zero when they are used again. Pages that are locked (mlockall)
  // do not go back, but are zero.
  static void purge(std::byte* from, std::size_t bytes) noexcept {
    if (::madvise(from, bytes, MADV_DONTNEED) != 0 && !map_anew(from, bytes)) std::memset(from, 0, bytes);
  }

  // Moves the pages of `bytes` bytes to another place of the range, whose own are dropped; those that are
  // left are zero. False, with the pages where they were, if the system cannot. The place is a mapping of its
  // own then, until renew().
  [[nodiscard]] static bool move_pages(std::byte* from, std::byte* to, std::size_t bytes) noexcept {
#if defined(MREMAP_DONTUNMAP)
    constexpr int flags = MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP;
    if (::mremap(from, bytes, bytes, flags, to) == to) return true;
    (void)map_anew(to, bytes);  // Linux before 6.17 has unmapped it, and refuses what lies in two mappings
#else
    (void)from, (void)to, (void)bytes;
#endif
    return false;
  }

  // Purges a place that pages were moved to, and makes it one mapping with its neighbours again.
  static void renew(std::byte* from, std::size_t bytes) noexcept {
    if (!map_anew(from, bytes)) purge(from, bytes);
  }

  static void ask_for_huge_pages(std::byte* from, std::size_t bytes) noexcept {
    ::madvise(from, bytes, MADV_HUGEPAGE);
  }

 private:
  static constexpr int quiet = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

  [[nodiscard]] bool is_within(const std::byte* from, std::size_t bytes) const noexcept {
    return from >= begin_ && bytes <= size_ && static_cast<std::size_t>(from - begin_) <= size_ - bytes;
  }

  static bool map_anew(std::byte* from, std::size_t bytes) noexcept {
    constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    return ::mmap(from, bytes, PROT_READ | PROT_WRITE, flags, -1, 0) != MAP_FAILED;
  }

  bool map_new(std::byte* from, std::size_t bytes) noexcept {
#if defined(MAP_FIXED_NOREPLACE)
    void* const p =
        ::mmap(from, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (p == from) return true;
    if (p != MAP_FAILED) ::munmap(p, bytes);  // by a kernel that does not know the flag
    is_taken_ = p != MAP_FAILED || errno == EEXIST;
#else
    (void)from, (void)bytes;
#endif
    return false;
  }

  // Chooses a place between 17 and 49 TiB, by where the kernel has put the stack and its own code for this
  // process, and tries whether the system maps anything there. Another range of the process is elsewhere.
  bool claim(std::size_t bytes, std::size_t align) noexcept {
    constexpr std::uint64_t lowest = std::uint64_t{17} << 40;
    constexpr std::uint64_t spread = 0x9e3779b97f4a7c15;  // carries each bit upwards
    const std::uint64_t drawn =
        ((::getauxval(AT_RANDOM) >> 4) * spread ^ (::getauxval(AT_SYSINFO_EHDR) >> 12)) * spread;
    std::uint64_t place = lowest + (drawn % (std::uint64_t{32} << 40) & ~(std::uint64_t{align} - 1));
    for (int tries = 0; tries != 16 && place <= max_request - bytes; ++tries, place += bytes) {
      auto* const begin = reinterpret_cast<std::byte*>(place);
      if (map_new(begin, align)) {
        ::munmap(begin, align);
        begin_ = begin;
        size_ = bytes;
        return true;
      }
      if (!is_taken_) return false;
    }
    return false;
  }

  std::byte* begin_ = nullptr;
  std::size_t size_ = 0;
  bool is_reserved_ = false;  // its addresses are mapped, without access
  bool is_taken_ = false;
};

}  // namespace mallard
