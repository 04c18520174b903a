// boost_threads_soak STEPS: four threads on one v2_allocator, in each of its forms for several threads,
// taking as many steps together; a step is one request at least. The heap is validated after each million.
// Prints how far it is on a terminal, and at the end, or after Ctrl-C, what was done; exit code 1 if anything
// was wrong.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "containers/boost/guest.hpp"
#include "harness/terminal.hpp"
#include "mallard/heap/best_fit.hpp"
#include "mallard/heap/synchronized_best_fit.hpp"
#include "mallard/layer/locked.hpp"

namespace mallard::containers {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::size_t round = 1'000'000;

double seconds_since(clock::time_point begin) {
  return std::chrono::duration<double>(clock::now() - begin).count();
}

// Whether nothing was wrong.
template <class Heap>
bool soak(const char* form, std::size_t steps) {
  const clock::time_point begin = clock::now();
  harness::progress line;
  four_guests<Heap> threads(1);
  std::size_t done = 0;
  while (done < steps && threads.violation().empty() && !harness::interrupted()) {
    threads.work(std::min(round, steps - done) / 4);
    done += std::min(round, steps - done);
    const double left = seconds_since(begin) / static_cast<double>(done) * static_cast<double>(steps - done);
    char text[160];
    std::snprintf(text, sizeof text, "%s: %zu of %zu million steps, %.0f s left", form, done / 1'000'000,
                  steps / 1'000'000, left);
    line.show(text);
  }
  std::string wrong = threads.violation();
  if (wrong.empty()) {
    threads.leave();
    threads.heap().trim(0);
    wrong = threads.violation();
    if (wrong.empty() && threads.heap().usage().held != 0) wrong = "memory is held that nobody has";
  }
  line.clear();
  std::printf("%-8s %11zu steps by 4 threads, %6.1f s: %s\n", form, done, seconds_since(begin),
              wrong.empty() ? "sound" : wrong.c_str());
  return wrong.empty();
}

}  // namespace
}  // namespace mallard::containers

int main(int count, char** arguments) {
  namespace here = mallard::containers;
  std::size_t steps = 0;
  const std::string_view wanted = count == 2 ? arguments[1] : "";
  if (std::from_chars(wanted.begin(), wanted.end(), steps).ptr != wanted.end() || steps < 4) {
    std::fputs("usage: boost_threads_soak STEPS\n", stderr);
    return 2;
  }
  mallard::harness::watch_for_interrupt();
  const bool locked_is_sound = here::soak<mallard::locked<mallard::best_fit>>("locked", steps / 2);
  const bool cached_is_sound = here::soak<mallard::synchronized_best_fit>("cached", steps - steps / 2);
  return locked_is_sound && cached_is_sound && !mallard::harness::interrupted() ? 0 : 1;
}
