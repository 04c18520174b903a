// misuse: what a program did wrong with a block, and how that is reported.
//
//     mallard: guarded: double free: 48 bytes aligned to 8 at 0x7f21c0de0040, block number 17
//         now:
//           #0 ./orders+0x1a2f
//         allocated: ...
//         freed before: ...
//
// Heaps that detect misuse keep a `known_block` for each block and report what they find. The reaction is a
// function of the user's. Without one the report is printed and the program aborts, as nothing that it does
// afterwards can be trusted. After a handler that returns, the heap continues; a block that cannot be freed
// is left alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "mallard/core/align.hpp"
#include "mallard/debug/call_place.hpp"

namespace mallard {

enum class misuse {
  foreign_pointer,      // given back, and none of this heap's blocks
  double_free,          // given back again
  wrong_size,           // given back with a size that was not asked for
  wrong_align,          // given back with another alignment
  wrong_family,         // given back by a function that belongs to another malloc
  written_before,       // bytes in front of the block have changed
  written_behind,       // bytes behind it
  written_after_free,   // bytes of a block that was given back
  accessed_before,      // a fault in front of the block
  accessed_behind,      // a fault behind it
  accessed_after_free,  // a fault in a block that was given back
  leaked,               // never given back
};
inline constexpr std::size_t misuses = static_cast<std::size_t>(misuse::leaked) + 1;

// What a heap knows about one of its blocks.
struct known_block {
  std::byte* data = nullptr;   // the caller's
  std::size_t size = 0;        // bytes asked for
  std::size_t align = 0;       // bytes
  std::byte* begin = nullptr;  // of all memory that was taken for it
  std::size_t whole = 0;       // bytes of that
  std::uint64_t number = 0;    // in the order of allocations, from 1
  bool live = true;
  bool reported = false;  // as a leak
  call_place allocated;
  call_place freed;
  known_block* older = nullptr;  // among the live, or among the freed
  known_block* newer = nullptr;

  // Bytes received: the requested ones, as all others are guarded; at least one.
  [[nodiscard]] std::size_t received() const noexcept { return size == 0 ? 1 : size; }
  [[nodiscard]] std::byte* end() const noexcept { return data + received(); }
  [[nodiscard]] std::byte* whole_end() const noexcept { return begin + whole; }
};

struct misuse_report {
  misuse what;
  const char* heap;          // the heap's name
  const void* pointer;       // given back, or the first byte that changed or was touched
  std::size_t size;          // bytes, as given back
  std::size_t align;         // bytes, as given back
  const known_block* block;  // the block it is about; null for a foreign pointer near none
  call_place now;
  const char* when = nullptr;  // what went before, if that is known
};

// Called from inside the heap's member that found the misuse, under a lock if the heap has one: it must not
// throw, and must not call the heap or its owner. `report` and its block are valid until it returns.
using misuse_handler = void (*)(const misuse_report& report, void* context);

[[nodiscard]] constexpr const char* what_happened(misuse what) noexcept {
  switch (what) {
    case misuse::foreign_pointer:
      return "deallocate of a foreign pointer";
    case misuse::double_free:
      return "double free";
    case misuse::wrong_size:
      return "deallocate with a wrong size";
    case misuse::wrong_align:
      return "deallocate with a wrong alignment";
    case misuse::wrong_family:
      return "deallocate by a function that does not belong to its allocation";
    case misuse::written_before:
      return "a write in front of a block";
    case misuse::written_behind:
      return "a write behind a block";
    case misuse::written_after_free:
      return "a write after free";
    case misuse::accessed_before:
      return "access in front of a block";
    case misuse::accessed_behind:
      return "access behind a block";
    case misuse::accessed_after_free:
      return "access after free";
    case misuse::leaked:
      return "leak";
  }
  return "misuse";
}

namespace detail {

inline void print_place(const char* when, const call_place& place) noexcept {
  if (place.empty()) return;
  error_line("    %s:", when);
  place.print();
}

// Where the pointer of a report lies relative to the block.
inline void print_distance(const void* pointer, const known_block& b) noexcept {
  const std::uintptr_t p = address_of(pointer);
  const std::uintptr_t data = address_of(b.data);
  if (p < data)
    error_line("    %p is %zu bytes in front of it", pointer, static_cast<std::size_t>(data - p));
  else if (p < data + b.received())
    error_line("    %p is at its byte %zu", pointer, static_cast<std::size_t>(p - data));
  else
    error_line("    %p is %zu bytes behind its end", pointer,
               static_cast<std::size_t>(p - data - b.received()));
}

}  // namespace detail

// Prints a report to standard error: one or two lines and the call places. As safe in a signal handler as
// dladdr is.
inline void print(const misuse_report& r) noexcept {
  if (r.block == nullptr) {
    error_line("mallard: %s: %s: %p (%zu bytes aligned to %zu)", r.heap, what_happened(r.what), r.pointer,
               r.size, r.align);
  } else {
    const known_block& b = *r.block;
    error_line("mallard: %s: %s: %zu bytes aligned to %zu at %p, block number %llu", r.heap,
               what_happened(r.what), b.size, b.align, static_cast<const void*>(b.data),
               static_cast<unsigned long long>(b.number));
    if (r.what == misuse::wrong_size || r.what == misuse::wrong_align)
      error_line("    given back as %zu bytes aligned to %zu", r.size, r.align);
    if (r.pointer != b.data) detail::print_distance(r.pointer, b);
  }
  if (r.when != nullptr) error_line("    %s", r.when);
  detail::print_place("now", r.now);
  if (r.block == nullptr) return;
  detail::print_place("allocated", r.block->allocated);
  detail::print_place("freed before", r.block->freed);
}

}  // namespace mallard
