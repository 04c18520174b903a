// The control of ThreadSanitizer's part in ./dev test: a race it must report, and the same without one.
//
//     race_control planted     two threads in a heap that is not synchronised
//     race_control locked      the same with a lock around it
//
// The threads take turns by a flag that orders nothing but itself: the race is one by the rules of the
// language, and must be reported; the heap is never in use twice at a time, so that nothing breaks before it
// is.
#include <atomic>
#include <cstdio>
#include <string_view>
#include <thread>

#include "mallard/heap/multipool.hpp"
#include "mallard/layer/locked.hpp"

namespace {

template <class Heap>
void use_from_two_threads() {
  Heap heap;
  const auto one_block = [&heap] { heap.deallocate(heap.allocate(48, 8).data, 48, 8); };
  std::atomic<bool> turn = false;
  std::thread other([&] {
    one_block();
    turn.store(true, std::memory_order_relaxed);
  });
  while (!turn.load(std::memory_order_relaxed)) std::this_thread::yield();
  one_block();
  other.join();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view kind = argc == 2 ? argv[1] : "";
  if (kind == "planted")
    use_from_two_threads<mallard::multipool>();
  else if (kind == "locked")
    use_from_two_threads<mallard::locked<mallard::multipool>>();
  else
    return std::fprintf(stderr, "race_control: say `planted` or `locked`\n"), 2;
  return 0;
}
