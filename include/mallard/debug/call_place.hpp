// call_place: the place of a call in a program, as a few return addresses.
//
//     void* allocate() {                                   [ guarded::allocate ]   left out
//       call_place::from(__builtin_return_address(0))  ->  [ vector::reserve   ]   frames 0 ...
//                                                          [ fill_table        ]
//                                                          [ main              ]
//
// It unwinds the stack by the compiler's own <unwind.h>, for which the unwind tables of C++ programs suffice,
// and prints each frame as module and offset, with the function's name if the module exports it.
// `addr2line -Cfie MODULE OFFSET` and `c++filt` tell the rest. Neither step allocates. Cost: about 0.15 us
// per frame, at most `depth` frames; 128 bytes.
#pragma once

#include <dlfcn.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "mallard/core/attributes.hpp"
#include "mallard/core/version.hpp"

namespace mallard {

// Prints one line to standard error, past all buffers.
//
//     error_line("mallard: %zu bytes", n)  -->  write(2, "mallard: 48 bytes\n")
//
// For reports from inside a heap and from signal handlers: it neither allocates nor locks. A line is one
// system call, so lines of several threads do not mix. Lines longer than 1 KiB are truncated.
[[gnu::format(printf, 1, 2)]] inline void error_line(const char* format, ...) noexcept {
  char line[1024];
  std::va_list arguments;
  va_start(arguments, format);
  const int wanted = std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  if (wanted < 0) return;
  std::size_t length = std::min<std::size_t>(static_cast<std::size_t>(wanted), sizeof line - 1);
  line[length++] = '\n';  // where the terminator was
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line, length);
}

class call_place {
 public:
  // Deep enough to leave a container of strings in an unoptimised build.
  static constexpr std::size_t depth = 16;

  // Returns the callers from the one that continues at `nearest` outwards; all callers if that is none of
  // them.
  [[nodiscard]] MALLARD_NOINLINE static call_place from(const void* nearest) noexcept {
    call_place found;
    walk w{nearest, &found, 0};
    _Unwind_Backtrace(step, &w);
    if (found.empty() && nearest != nullptr) {
      w = {nullptr, &found, 0};
      _Unwind_Backtrace(step, &w);
    }
    return found;
  }

  [[nodiscard]] bool empty() const noexcept { return frames_[0] == nullptr; }

  // The i-th return address; null after the last.
  [[nodiscard]] const void* operator[](std::size_t i) const noexcept {
    return i < depth ? frames_[i] : nullptr;
  }

  // Prints a line per frame to standard error.
  void print() const noexcept {
    for (std::size_t i = 0; i < depth && frames_[i] != nullptr; ++i) print(i, frames_[i]);
  }

 private:
  struct walk {
    const void* nearest;  // what to wait for; null once it was met
    call_place* found;
    std::size_t count;
  };

  static _Unwind_Reason_Code step(_Unwind_Context* context, void* state) noexcept {
    walk& w = *static_cast<walk*>(state);
    const void* const ip = reinterpret_cast<const void*>(_Unwind_GetIP(context));
    if (ip == w.nearest) w.nearest = nullptr;
    if (w.nearest != nullptr) return _URC_NO_REASON;
    if (ip == nullptr || w.count == depth) return _URC_END_OF_STACK;
    w.found->frames_[w.count++] = ip;
    return _URC_NO_REASON;
  }

  // A return address is behind the call; the byte before it belongs to the call.
  static void print(std::size_t i, const void* frame) noexcept {
    const std::uintptr_t call = reinterpret_cast<std::uintptr_t>(frame) - 1;
    Dl_info module;
    if (::dladdr(reinterpret_cast<const void*>(call), &module) == 0 || module.dli_fname == nullptr)
      return error_line("      #%zu %p", i, frame);
    const std::size_t offset = call - reinterpret_cast<std::uintptr_t>(module.dli_fbase);
    if (module.dli_sname == nullptr) return error_line("      #%zu %s+0x%zx", i, module.dli_fname, offset);
    error_line("      #%zu %s+0x%zx %s", i, module.dli_fname, offset, module.dli_sname);
  }

  std::array<const void*, depth> frames_{};
};

}  // namespace mallard
