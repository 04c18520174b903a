// Leaks: live blocks that nothing points to any more.
//
//     mappings of the process but the heap's own --words--> blocks --their words--> blocks ...
//                                                           not reached: leaked
//
// Whatever looks like an address in a block counts as a pointer to it, so a leak may be missed, and none is
// made up. Stacks, thread-local and global variables lie in private mappings that may be written to. What is
// only in registers of another thread, in shared memory or with the kernel, is not seen as a pointer. Memory
// is read through the kernel: a page may have no file behind it, or be unmapped by another thread meanwhile.
// Blocks of one stack are reported together. Cost: all private memory is copied once.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "mallard/core/align.hpp"
#include "malloc/checked/call_stacks.hpp"
#include "malloc/checked/checked_blocks.hpp"

namespace mallard::malloc_library {
namespace {

constexpr std::size_t page = 4096;

// Leaked blocks of one stack.
struct group {
  stack_number allocated = 0;
  std::size_t blocks = 0;
  std::size_t bytes = 0;
};

// By their stacks; the last one is of those that have no room.
constexpr std::size_t most_groups = 4096;
constinit group groups[most_groups]{};

group& group_of(stack_number stack) noexcept {
  for (std::size_t i = 0; i != most_groups - 1; ++i) {
    group& g = groups[(stack + i) % (most_groups - 1)];
    if (g.blocks == 0 || g.allocated == stack) return g;
  }
  return groups[most_groups - 1];
}

// A file of the process, opened by a call that is no cancellation point.
class process_file {
 public:
  explicit process_file(const char* path) noexcept
      : file_(::syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC)) {}
  ~process_file() {
    if (is_open()) ::syscall(SYS_close, file_);
  }
  process_file(const process_file&) = delete;
  process_file& operator=(const process_file&) = delete;

  [[nodiscard]] bool is_open() const noexcept { return file_ >= 0; }
  long read(void* out, std::size_t most) const noexcept { return ::syscall(SYS_read, file_, out, most); }
  long read_at(const void* at, void* out, std::size_t most) const noexcept {
    return ::syscall(SYS_pread64, file_, out, most, at);
  }

 private:
  long file_;
};

// Copies of words of the process. It is read itself, when it has nothing but what was read before.
constinit void* words[8192]{};

void reach_from(const process_file& memory, const std::byte* begin, const std::byte* end) noexcept {
  constexpr std::size_t word = sizeof(void*);
  const std::byte* p = begin + padding_for(begin, word);
  while (p < end) {
    const auto most = std::min(sizeof words, static_cast<std::size_t>(end - p));
    const long got = std::max(0L, memory.read_at(p, words, most));
    std::for_each_n(words, static_cast<std::size_t>(got) / word, [](const void* each) { reach(each); });
    p += got;
    if (got == 0) p += padding_for(p + 1, page) + 1;  // nothing is there
  }
}

// Reads lines "begin-end rw-p ..." of the process's mappings.
class mapping_file {
 public:
  struct mapping {
    const std::byte* begin = nullptr;
    const std::byte* end = nullptr;
    bool is_private_data = false;
  };

  bool next(mapping& out) noexcept {
    char line[64];
    std::size_t length = 0;
    for (char c = get(); c != '\n'; c = get()) {
      if (c == '\0') return false;
      if (length != sizeof line - 1) line[length++] = c;
    }
    line[length] = '\0';
    std::size_t begin = 0;
    std::size_t end = 0;
    char access[5] = "";
    if (::sscanf(line, "%zx-%zx %4s", &begin, &end, access) != 3) return false;
    out = {reinterpret_cast<const std::byte*>(begin), reinterpret_cast<const std::byte*>(end),
           access[0] == 'r' && access[1] == 'w' && access[3] == 'p'};
    return true;
  }

 private:
  char get() noexcept {
    if (at_ == filled_) {
      filled_ = std::max(0L, file_.read(buffer_, sizeof buffer_));
      at_ = 0;
      if (filled_ == 0) return '\0';
    }
    return buffer_[at_++];
  }

  process_file file_{"/proc/self/maps"};
  long at_ = 0;
  long filled_ = 0;
  char buffer_[4096]{};
};

// What the stack below this frame still holds is no pointer to anything.
MALLARD_NOINLINE void reach_from_mappings(const process_file& memory) noexcept {
  const auto* const here = static_cast<const std::byte*>(__builtin_frame_address(0));
  mapping_file mappings;
  for (mapping_file::mapping m; mappings.next(m);) {
    if (!m.is_private_data || is_of_heap(m.begin)) continue;
    reach_from(memory, here >= m.begin && here < m.end ? here : m.begin, m.end);
  }
}

}  // namespace

void report_leaks() noexcept {
  __builtin_unwind_init();  // registers, onto the stack
  const int saved_errno = errno;
  const process_file memory("/proc/self/mem");
  if (!memory.is_open()) return;  // the system forbids it: nothing is known
  forget_walks();
  reach_from_mappings(memory);
  for (live_block b = next_reached(); b.data != nullptr; b = next_reached())
    reach_from(memory, b.data, b.data + b.size);
  for_each_unreached(
      [](const live_block& b, void*) {
        group& g = group_of(b.allocated);
        g.allocated = b.allocated;
        ++g.blocks;
        g.bytes += b.size;
      },
      nullptr);
  std::sort(groups, groups + most_groups, [](const group& a, const group& b) { return a.bytes > b.bytes; });
  for (const group& g : groups) {
    if (g.blocks == 0) continue;
    const block_facts facts{.allocated = g.allocated};
    report({.what = misuse::leaked, .block = &facts, .size = g.bytes, .count = g.blocks});
  }
  errno = saved_errno;
}

}  // namespace mallard::malloc_library
