// Steady churn: a number of objects alive, and of steps, each of which ends a random one and makes another.
// Sizes are those of a program with many small nodes and strings.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <vector>

namespace {

constexpr std::size_t sizes[] = {16, 24, 24, 32,  32,  32,  40,  48,  48, 56,
                                 64, 72, 88, 104, 128, 160, 208, 320, 512};

// xorshift64, below `limit`.
std::size_t below(std::size_t limit) {
  static std::uint64_t state = 88172645463325252u;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return static_cast<std::size_t>(state % limit);
}

std::unique_ptr<char[]> made() { return std::unique_ptr<char[]>(new char[sizes[below(std::size(sizes))]]); }

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  std::vector<std::unique_ptr<char[]>> alive(std::strtoul(arguments[1], nullptr, 10));
  for (std::unique_ptr<char[]>& object : alive) object = made();
  for (std::size_t steps = std::strtoul(arguments[2], nullptr, 10); steps != 0; --steps) {
    std::unique_ptr<char[]>& object = alive[below(alive.size())];
    object.reset();
    object = made();
  }
}
