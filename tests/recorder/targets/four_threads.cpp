// four_threads: four threads, all alive at once, grow and shrink containers, hand blocks to each other and
// use every other entry point now and then; the calls are the same ones in every run.
#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int threads = 4;
constexpr int rounds = 1500;

std::barrier all_here(threads);
std::vector<std::unique_ptr<std::string>> handed_over[threads];

void* (*volatile do_realloc)(void*, std::size_t) = realloc;
void* (*volatile do_calloc)(std::size_t, std::size_t) = calloc;

std::size_t grow(int number, int round) {
  std::map<int, std::vector<std::string>> words;
  for (int i = 0; i < 8; ++i)
    words[(round * 7 + i) % 5].emplace_back(static_cast<std::size_t>(20 + (number + i) % 90), 'x');
  void* block = do_realloc(do_calloc(3, 40), 500);
  std::free(block);
  return words.size();
}

void work(int number, std::size_t& sum) {
  all_here.arrive_and_wait();
  for (int round = 0; round < rounds; ++round) {
    sum += grow(number, round);
    handed_over[number].push_back(std::make_unique<std::string>(64, 'y'));
  }
  all_here.arrive_and_wait();
  handed_over[(number + 1) % threads].clear();
  all_here.arrive_and_wait();
}

}  // namespace

int main() {
  std::size_t sums[threads] = {};
  {
    std::vector<std::jthread> running;
    for (int i = 0; i < threads; ++i) running.emplace_back(work, i, std::ref(sums[i]));
  }
  for (const std::size_t sum : sums) std::printf("%zu\n", sum);
}
