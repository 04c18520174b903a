// raw_calls: system calls that are no cancellation points, that nobody can interpose and that leave errno
// alone. A result below 0 is the negated error. And private memory directly from the system, which nobody can
// intercept.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cerrno>

#include <cstddef>

namespace mallard::recorder {

template <class... Arguments>
[[nodiscard]] inline long raw_call(long number, Arguments... arguments) noexcept {
  const int saved_errno = errno;
  const long result = syscall(number, arguments...);
  const long answer = result < 0 ? -errno : result;
  errno = saved_errno;
  return answer;
}

[[nodiscard]] inline int raw_open(const char* path, int flags, unsigned mode = 0) noexcept {
  return static_cast<int>(raw_call(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, mode));
}

inline void raw_close(int descriptor) noexcept { static_cast<void>(raw_call(SYS_close, descriptor)); }

// Reads until `size` bytes are there or the file ends; the number of bytes.
inline std::size_t raw_read(int descriptor, char* out, std::size_t size) noexcept {
  std::size_t got = 0;
  while (got < size) {
    const long more = raw_call(SYS_read, descriptor, out + got, size - got);
    if (more == -EINTR) continue;
    if (more <= 0) break;
    got += static_cast<std::size_t>(more);
  }
  return got;
}

[[nodiscard]] inline std::size_t raw_read_link(const char* path, char* out, std::size_t size) noexcept {
  const long got = raw_call(SYS_readlinkat, AT_FDCWD, path, out, size);
  return got < 0 ? 0 : static_cast<std::size_t>(got);
}

[[nodiscard]] inline bool raw_exists(const char* path) noexcept {
  return raw_call(SYS_faccessat, AT_FDCWD, path, F_OK) == 0;
}

inline void raw_unlink(const char* path) noexcept {
  static_cast<void>(raw_call(SYS_unlinkat, AT_FDCWD, path, 0));
}

// Of this process as the kernel knows it now, also in a vfork'ed child.
[[nodiscard]] inline unsigned raw_process() noexcept { return static_cast<unsigned>(raw_call(SYS_getpid)); }

// `bytes` rounded up to whole pages, zeroed; null if there are none. Nothing is taken before it is touched.
[[nodiscard]] inline void* map_pages(std::size_t bytes) noexcept {
  void* mapped =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return mapped == MAP_FAILED ? nullptr : mapped;
}

inline void unmap_pages(void* pages, std::size_t bytes) noexcept {
  if (pages != nullptr) munmap(pages, bytes);
}

}  // namespace mallard::recorder
