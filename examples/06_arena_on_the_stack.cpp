// Temporaries on the stack: the first 4 KiB of the arena lie inside it, so most calls ask nobody for memory.
// Larger inputs go on in chunks of the system's, and work as well.
#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "mallard/allocator/allocator.hpp"
#include "mallard/heap/stack_arena.hpp"

namespace {

using arena = mallard::stack_arena<4096>;

// The longest of the lines that occur most often, and whether the stack was enough to find it.
std::string most_frequent(std::string_view text, bool& on_the_stack) {
  arena memory;
  std::vector<std::string_view, mallard::allocator<std::string_view, arena>> lines(memory);
  lines.reserve(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')));
  for (std::size_t end = 0; (end = text.find('\n')) != std::string_view::npos; text.remove_prefix(end + 1))
    lines.push_back(text.substr(0, end));
  std::sort(lines.begin(), lines.end());

  std::string_view best;
  std::ptrdiff_t times = 0;
  for (auto first = lines.begin(); first != lines.end();) {
    const auto last = std::upper_bound(first, lines.end(), *first);
    if (last - first > times || (last - first == times && first->size() > best.size())) best = *first;
    times = std::max(times, last - first);
    first = last;
  }
  on_the_stack = memory.upstream().held() == 0;
  return std::string(best);  // what outlives the arena is copied out of it
}

void report(const std::string& text) {
  bool on_the_stack = false;
  const std::string line = most_frequent(text, on_the_stack);
  std::printf("\"%s\" of %zu bytes: %s\n", line.c_str(), text.size(),
              on_the_stack ? "on the stack" : "needed chunks as well");
}

}  // namespace

int main() {
  report("duck\ngoose\nduck\nswan\n");
  std::string pond;
  for (int i = 0; i < 1000; ++i) pond += i % 3 == 0 ? "swan\n" : "goose\n";
  report(pond);
}

// It prints:
//     "duck" of 21 bytes: on the stack
//     "goose" of 5666 bytes: needed chunks as well
