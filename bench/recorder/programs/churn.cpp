// Two threads, each keeping a map<string, vector<string>> that grows, changes and shrinks: the containers of
// an index or a cache. Keys and words are of mixed length, so some strings live inside their object and most
// do not. Every thread has its own map and its own random numbers, so the work is the same in every run.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

using index = std::map<std::string, std::vector<std::string>>;

class random_numbers {
 public:
  explicit random_numbers(std::uint64_t seed) : state_(seed) {}

  // xorshift64*: the upper bits of the product, below `limit`.
  std::size_t below(std::size_t limit) {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return static_cast<std::size_t>((state_ * 0x2545F4914F6CDD1DULL) >> 33) % limit;
  }

 private:
  std::uint64_t state_;
};

std::string key(std::size_t number) { return "document/" + std::to_string(number) + "/title"; }

std::string word(random_numbers& random) {
  return std::string(4 + random.below(44), static_cast<char>('a' + random.below(26)));
}

// Each step looks up one of `keys` entries: mostly it appends a word, sometimes it drops the entry.
std::size_t churn(std::uint64_t seed, std::size_t steps) {
  constexpr std::size_t keys = 4000;
  random_numbers random(seed);
  index entries;
  std::size_t letters = 0;
  for (std::size_t step = 0; step != steps; ++step) {
    const std::string name = key(random.below(keys));
    if (random.below(16) == 0) {
      entries.erase(name);
    } else {
      std::vector<std::string>& words = entries[name];
      words.push_back(word(random));
      letters += words.back().size();
    }
  }
  return letters + entries.size();
}

}  // namespace

int main(int count, char** arguments) {
  const std::size_t steps = count > 1 ? std::strtoul(arguments[1], nullptr, 10) : 400000;
  std::size_t first = 0;
  std::size_t second = 0;
  std::thread one([&] { first = churn(1, steps); });
  std::thread two([&] { second = churn(2, steps); });
  one.join();
  two.join();
  std::printf("%zu %zu\n", first, second);
}
