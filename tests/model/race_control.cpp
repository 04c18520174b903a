// The control of ThreadSanitizer's part in ./dev test: a race it must report, and the same without one.
//
//     race_control planted     two threads in a heap that is not synchronised
//     race_control locked      the same with a lock around it
//
// Neither thread waits for the other, so that their order is nobody's: it must be told even when they
// happen to come one after the other.
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
  std::thread other(one_block);
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
