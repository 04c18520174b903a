// Four threads that allocate at the end of call chains which change in their middle and keep their ends:
// the same caller at the same stack pointer, below different functions. `deep_threads FRAMES`: a recursion of
// that many frames, which allocates on its way in and on its way out.
#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>

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

void* (*volatile allocate)(std::size_t) = std::malloc;  // so that no call is optimised away

unsigned dive(unsigned path, unsigned depth);

[[gnu::noinline]] unsigned to_the_left(unsigned path, unsigned depth) { return dive(path, depth) + 1; }
[[gnu::noinline]] unsigned to_the_right(unsigned path, unsigned depth) { return dive(path, depth) + 2; }

[[gnu::noinline]] unsigned dive(unsigned path, unsigned depth) {
  std::free(allocate(10));
  unsigned sum = 0;
  if (depth > 2)
    sum = (path * depth & 64) != 0 ? to_the_left(path, depth - 2) : to_the_right(path, depth - 2);
  std::free(allocate(20));
  return sum;
}

void* dive_again_and_again(void* frames) {
  const auto depth = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(frames));
  for (unsigned path = 0; path < 2 + 100'000 / depth; ++path) static_cast<void>(dive(path, depth));
  return nullptr;
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 2) {
    pthread_t thread;
    pthread_attr_t large;
    pthread_attr_init(&large);
    pthread_attr_setstacksize(&large, std::size_t{64} << 20);
    const auto frames = static_cast<std::uintptr_t>(std::strtoul(arguments[1], nullptr, 10));
    if (pthread_create(&thread, &large, dive_again_and_again, reinterpret_cast<void*>(frames)) != 0) return 2;
    return pthread_join(thread, nullptr);
  }
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
