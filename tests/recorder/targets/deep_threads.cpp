// Four threads that allocate at the end of call chains which change in their middle and keep their ends:
// the same caller at the same stack pointer, below different functions.
#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

using step = void (*)(unsigned path, int depth, std::map<int, std::string>& held);

void descend(unsigned path, int depth, std::map<int, std::string>& held);

// The same frames, as far as their size goes, by two names.
[[gnu::noinline]] void left(unsigned path, int depth, std::map<int, std::string>& held) {
  descend(path >> 1, depth - 1, held);
  asm volatile("" ::: "memory");
}

[[gnu::noinline]] void right(unsigned path, int depth, std::map<int, std::string>& held) {
  descend(path >> 1, depth - 1, held);
  asm volatile("" ::: "memory");
}

[[gnu::noinline]] void across(unsigned path, int depth, std::map<int, std::string>& held) {
  volatile char room[48];  // of another size
  room[0] = static_cast<char>(path);
  descend(path >> 1, depth - 1, held);
  room[1] = room[0];
}

[[gnu::noinline]] void descend(unsigned path, int depth, std::map<int, std::string>& held) {
  if (depth == 0) {
    held[static_cast<int>(path % 97)] = std::string(20 + path % 50, 'x');
    if (held.size() > 50) held.clear();
    return;
  }
  const step next = depth % 5 == 0 && (path & 1) != 0 ? across : (path & 1) != 0 ? left : right;
  next(path, depth, held);
  asm volatile("" ::: "memory");
}

}  // namespace

int main() {
  std::vector<std::thread> threads;
  for (unsigned number = 0; number < 4; ++number) {
    threads.emplace_back([number] {
      std::map<int, std::string> held;
      std::uint32_t random = number + 1;
      for (int i = 0; i < 30000; ++i) {
        random = random * 1664525 + 1013904223;
        descend(random >> 8, static_cast<int>(3 + random % 20), held);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}
