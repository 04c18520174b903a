// reports: what the checks have found, for a reader.
//
//     finding --> seen before, at the same place? --> counted
//             `-> a few lines: what, the block, the stacks --> mallard run, which names functions and lines
//                                                         `--> else stderr: modules, offsets, exported names
//     exit    --> one line with the counts, and an exit code of its own
//
// Nothing here allocates. A finding with the same stacks as an earlier one is counted only, and so are all
// behind the first hundred: a loop does not flood. Any thread at any time; reports are written one by one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mallard/debug/misuse.hpp"
#include "malloc/checked/call_stacks.hpp"

namespace mallard::malloc_library {

// The functions that belong together.
enum class family : std::uint8_t { of_malloc, of_new, of_array_new };

// A block as a report needs it.
struct block_facts {
  const std::byte* data = nullptr;
  std::size_t size = 0;
  std::size_t align = 0;
  family allocated_by = family::of_malloc;
  bool is_aligned = false;  // by a function that takes an alignment
  stack_number allocated = 0;
  stack_number freed = 0;  // 0: it is in use
};

struct finding {
  misuse what;
  const void* pointer = nullptr;       // freed, touched, or the first byte that has changed
  const block_facts* block = nullptr;  // null: none is near
  stack_number now = 0;
  const char* function = nullptr;  // that was called; null: the program ends, or has faulted
  std::size_t size = 0;            // as given back; of leaks, the bytes of all
  std::size_t align = 0;           // as given back
  std::size_t count = 1;           // bytes that have changed, or blocks
};

void report(const finding& found) noexcept;

// What has been found in this process, each time counted.
[[nodiscard]] std::size_t findings() noexcept;

// Tells the counts, if there are any, and returns the exit code for that; 0: the program's own.
[[nodiscard]] int summarise() noexcept;

// Reads the options, once, before there are threads.
void prepare_reports() noexcept;

}  // namespace mallard::malloc_library
