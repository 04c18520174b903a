// minimise: two-level minimisation of Boolean functions, by expanding cubes against the complement and
// leaving out what others cover.
//
//     on-set --complement--> off-set        1-0-    a cube: one literal a variable, 1, 0 or either
//     on-set --expand-->  prime cubes  --irredundant--> fewer cubes
//
// The recursions cofactor covers: each call makes a list of new cubes, small arrays that live as long as the
// call, thousands of them at once in the outer ones. One thread.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <list>
#include <memory>
#include <random>
#include <utility>
#include <vector>

namespace {

// A product of literals. Two bits a variable: may be 0, may be 1; neither: the cube is empty.
class cube {
 public:
  explicit cube(std::size_t variables)
      : words_(variables / 32 + 1), bits_(std::make_unique<std::uint64_t[]>(words_)) {
    std::fill_n(bits_.get(), words_, ~std::uint64_t{0});
  }
  cube(const cube& other) : words_(other.words_), bits_(std::make_unique<std::uint64_t[]>(words_)) {
    std::copy_n(other.bits_.get(), words_, bits_.get());
  }
  cube(cube&&) = default;
  cube& operator=(const cube& other) { return *this = cube(other); }
  cube& operator=(cube&&) = default;
  ~cube() = default;

  [[nodiscard]] unsigned literal(std::size_t v) const { return bits_[v / 32] >> 2 * (v % 32) & 3; }
  void set(std::size_t v, unsigned literal) {
    bits_[v / 32] &= ~(std::uint64_t{3} << 2 * (v % 32));
    bits_[v / 32] |= std::uint64_t{literal} << 2 * (v % 32);
  }

  [[nodiscard]] bool meets(const cube& other) const {
    constexpr std::uint64_t low = 0x5555555555555555;
    for (std::size_t w = 0; w < words_; ++w) {
      const std::uint64_t both = bits_[w] & other.bits_[w];
      if (((both | both >> 1) & low) != low) return false;
    }
    return true;
  }
  [[nodiscard]] bool covers(const cube& other) const {
    for (std::size_t w = 0; w < words_; ++w)
      if ((other.bits_[w] & ~bits_[w]) != 0) return false;
    return true;
  }
  [[nodiscard]] bool is_universe() const {
    return std::all_of(bits_.get(), bits_.get() + words_,
                       [](std::uint64_t w) { return w == ~std::uint64_t{0}; });
  }

 private:
  std::size_t words_;
  std::unique_ptr<std::uint64_t[]> bits_;
};

constexpr unsigned either = 3;

using cover = std::list<cube>;

// What is left of the cover where variable v has this literal.
cover cofactor(const cover& of, std::size_t v, unsigned literal) {
  cover left;
  for (const cube& c : of) {
    if ((c.literal(v) & literal) == 0) continue;
    left.push_back(c);
    left.back().set(v, either);
  }
  return left;
}

// The variable that most cubes have a literal of, most of all in both senses; `variables`: none has any.
std::size_t splitting_variable(const cover& of, std::size_t variables) {
  std::size_t best = variables, most = 0;
  for (std::size_t v = 0; v < variables; ++v) {
    std::array<std::size_t, 4> count{};
    for (const cube& c : of) ++count[c.literal(v)];
    const std::size_t weight = count[1] + count[2] + variables * of.size() * (count[1] != 0 && count[2] != 0);
    if (count[1] + count[2] != 0 && weight > most) {
      best = v;
      most = weight;
    }
  }
  return best;
}

bool is_tautology(const cover& f, std::size_t variables) {
  if (std::ranges::any_of(f, &cube::is_universe)) return true;
  const std::size_t v = splitting_variable(f, variables);
  if (f.empty() || v == variables) return false;
  return is_tautology(cofactor(f, v, 1), variables) && is_tautology(cofactor(f, v, 2), variables);
}

cover complement(const cover& f, std::size_t variables) {
  cover result;
  if (f.empty()) result.emplace_back(variables);
  if (f.empty() || std::ranges::any_of(f, &cube::is_universe)) return result;
  const std::size_t v = splitting_variable(f, variables);
  cover zeros = complement(cofactor(f, v, 1), variables);
  cover ones = complement(cofactor(f, v, 2), variables);
  for (cube& zero : zeros) {
    const auto same =
        std::ranges::find_if(ones, [&](const cube& one) { return one.covers(zero) && zero.covers(one); });
    if (same == ones.end())
      zero.set(v, 1);
    else
      ones.erase(same);
    result.push_back(std::move(zero));
  }
  for (cube& one : ones) {
    one.set(v, 2);
    result.push_back(std::move(one));
  }
  return result;
}

// Each cube as large as the off-set lets it; those that one of the larger ones covers go.
cover expand(cover f, const cover& off, std::size_t variables) {
  cover primes;
  while (!f.empty()) {
    cube prime = std::move(f.front());
    f.pop_front();
    for (std::size_t v = 0; v < variables; ++v) {
      if (prime.literal(v) == either) continue;
      cube larger = prime;
      larger.set(v, either);
      if (std::ranges::none_of(off, [&](const cube& o) { return o.meets(larger); }))
        prime = std::move(larger);
    }
    f.remove_if([&](const cube& c) { return prime.covers(c); });
    primes.push_back(std::move(prime));
  }
  return primes;
}

// Whether the others cover all of c.
bool is_redundant(const cube& c, const cover& others, std::size_t variables) {
  cover inside;
  for (const cube& o : others) {
    if (!o.meets(c)) continue;
    cube part = o;
    for (std::size_t v = 0; v < variables; ++v)
      if (c.literal(v) != either) part.set(v, either);
    inside.push_back(std::move(part));
  }
  return is_tautology(inside, variables);
}

cover irredundant(cover f, std::size_t variables) {
  cover kept;
  while (!f.empty()) {
    cover one;
    one.splice(one.begin(), f, f.begin());
    cover others = kept;
    others.insert(others.end(), f.begin(), f.end());
    if (!is_redundant(one.front(), others, variables)) kept.splice(kept.end(), one);
  }
  return kept;
}

cover random_function(std::size_t variables, std::size_t cubes, std::mt19937& random) {
  cover f;
  for (std::size_t i = 0; i < cubes; ++i) {
    cube& c = f.emplace_back(variables);
    for (std::size_t v = 0; v < variables; ++v)
      if (const auto drawn = static_cast<unsigned>(random() % 8); drawn < 6) c.set(v, 1 + drawn % 2);
  }
  return f;
}

std::size_t literals_in(const cover& f, std::size_t variables) {
  std::size_t sum = 0;
  for (const cube& c : f)
    for (std::size_t v = 0; v < variables; ++v) sum += c.literal(v) != either;
  return sum;
}

}  // namespace

// minimise [VARIABLES CUBES FUNCTIONS]: random functions, minimised.
int main(int argc, char** argv) {
  const auto number = [&](int i, std::size_t usual) {
    return argc > i ? static_cast<std::size_t>(std::strtoul(argv[i], nullptr, 10)) : usual;
  };
  const std::size_t variables = number(1, 12), cubes = number(2, 160), functions = number(3, 6);
  std::mt19937 random(1);
  for (std::size_t i = 0; i < functions; ++i) {
    const cover f = random_function(variables, cubes, random);
    const cover off = complement(f, variables);
    const cover minimal = irredundant(expand(f, off, variables), variables);
    std::printf("%zu cubes, %zu literals: %zu cubes, %zu literals; off-set of %zu\n", f.size(),
                literals_in(f, variables), minimal.size(), literals_in(minimal, variables), off.size());
  }
}
