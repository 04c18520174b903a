// run: `program [--count] [--shift N] FILE`, of both programs.
//
//     --count      figures of what was allocated, to standard error at the end; kinds `recorded` have them
//     --shift N    all that comes after it lies N bytes farther: one block of N bytes is taken before all
//                  others from the region around them
//
// Exit code 2 where the command line or the file cannot be read. Seed 002, section 5 (Table 3).
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "programs/memory/region.hpp"
#include "programs/memory/tally.hpp"
#include "programs/text/source_text.hpp"

namespace mallard::programs {

struct command_line {
  const char* file = nullptr;
  bool count = false;
  std::size_t shift = 0;
};

[[nodiscard]] inline command_line read_command_line(int count, char** words) {
  command_line read;
  bool known = true;
  for (int i = 1; i < count; ++i) {
    if (std::string_view(words[i]) == "--count")
      read.count = true;
    else if (std::string_view(words[i]) == "--shift" && i + 1 < count)
      read.shift = std::strtoul(words[++i], nullptr, 10);
    else if (read.file == nullptr)
      read.file = words[i];
    else
      known = false;
  }
  if (read.file == nullptr || !known) {
    std::fprintf(stderr, "usage: %s [--count] [--shift BYTES] FILE\n", words[0]);
    std::exit(2);
  }
  return read;
}

// work(all, text): in a region around all others.
template <class Work>
int run(int count, char** words, Work work) {
  const command_line asked = read_command_line(count, words);
  if (asked.count && !counting<region>) {
    std::fputs("--count: only the builds named recorded count\n", stderr);
    return 2;
  }
  const source_text text(asked.file);
  {
    region all;
    void* const before = asked.shift == 0 ? nullptr : all.allocate(asked.shift, 1);
    work(all, text.view());
    if (before != nullptr) all.free(before, asked.shift, 1);
  }
  if (asked.count) tally::of_process().print();
  return 0;
}

}  // namespace mallard::programs
