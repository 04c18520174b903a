// run_program: `program [--count] [--shift N] FILE`, of both programs.
//
//     --count      figures of what was allocated, to standard error at the end; kinds `recorded` have them
//     --shift N    all that is allocated lies N bytes farther: heaps with pages of their own begin there in
//                  each of their chunks; over malloc, one block of N bytes is taken before all others from
//                  the region around them
//
// Exit code 2, with one line, where the command line or the file cannot be read.
// Seed 002, section 5 (Table 3).
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "harness/shifted_pages.hpp"
#include "programs/memory/region_kinds.hpp"
#include "programs/text/lexer.hpp"

namespace mallard::programs {

struct command_line {
  const char* file = nullptr;
  bool count = false;
  std::size_t shift = 0;
};

[[noreturn]] inline void refuse(const char* program, const char* what, const char* word) {
  std::fprintf(stderr, "%s: %s%s; usage: %s [--count] [--shift BYTES] FILE\n", program, what, word, program);
  std::exit(2);
}

[[nodiscard]] inline command_line read_command_line(int count, char** words) {
  command_line read;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    if (word == "--count") {
      read.count = true;
    } else if (word == "--shift") {
      const std::string_view bytes = ++i < count ? words[i] : "";
      const auto [end, error] = std::from_chars(bytes.data(), bytes.data() + bytes.size(), read.shift);
      if (error != std::errc() || end != bytes.data() + bytes.size() ||
          !harness::shifted_pages::can_be_shift(read.shift))
        refuse(words[0], "--shift needs a multiple of 64 below 4096, not ", i < count ? words[i] : "nothing");
    } else if (word.starts_with("--")) {
      refuse(words[0], "unknown option ", words[i]);
    } else if (read.file != nullptr) {
      refuse(words[0], "one FILE is read, not also ", words[i]);
    } else {
      read.file = words[i];
    }
  }
  if (read.file == nullptr) refuse(words[0], "no FILE is named", "");
  return read;
}

// work(all, text): in a region around all others.
template <class Work>
int run_program(int count, char** words, Work work) {
  const command_line asked = read_command_line(count, words);
  if (asked.count && !counting<region>) {
    std::fputs("--count: only the builds named recorded count\n", stderr);
    return 2;
  }
  const source_text text(asked.file);
  harness::shifted_pages::shift = asked.shift;
  {
    region all;
    void* const before = region::is_over_malloc && asked.shift != 0 ? all.allocate(asked.shift, 1) : nullptr;
    work(all, text.view());
    if (before != nullptr) all.free(before, asked.shift, 1);
  }
  if (asked.count) tally::of_process().print();
  return 0;
}

}  // namespace mallard::programs
