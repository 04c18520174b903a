// Programs for which it matters how containers grow.
//
//     small_vectors     one or two elements, each vector a block of its own       vector --> [e]
//     growing_vectors   element by element, to a number that is known before      [e] [ee] [eeee] [eeeeeeee]
//     ...
#include <cstdint>
#include <utility>
#include <vector>

#include "truth.h"

namespace {

struct record {
  std::uint64_t key = 0;
  std::vector<std::uint32_t> tags;
};

NAMED void tag_record(record& one, std::uint64_t random) {
  one.tags.push_back(static_cast<std::uint32_t>(random));
  if (random % 4 == 0) one.tags.push_back(static_cast<std::uint32_t>(random >> 32));
}

std::uint64_t small_vectors(input* in) {
  std::vector<record> records(either(in, 40'000, 60'000));
  std::uint64_t sum = 0;
  for (std::uint64_t i = either(in, 1'500'000, 1'800'000); i != 0; --i) {
    record fresh;
    fresh.key = draw(in);
    tag_record(fresh, fresh.key);
    record& old = records[fresh.key % records.size()];
    for (const std::uint32_t tag : old.tags) sum = steps(sum + tag, 20);
    old = std::move(fresh);
  }
  return sum;
}

NAMED std::uint64_t collect_samples(input* in, std::size_t count) {
  std::vector<std::uint64_t> samples;
  for (std::size_t i = 0; i != count; ++i) samples.push_back(draw(in));
  std::uint64_t sum = 0;
  for (const std::uint64_t one : samples) sum = sum * 3 + one;
  return steps(sum, 100);
}

std::uint64_t growing_vectors(input* in) {
  std::vector<std::vector<std::uint64_t>> series(16);  // which grow meanwhile, so that no block is the last
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i != either(in, 400'000, 250'000); ++i) {
    sum += collect_samples(in, draw_between(in, 8, either(in, 40, 70)));
    series[i % series.size()].push_back(sum);
  }
  for (const auto& one : series) sum ^= one.back();
  return sum;
}

constexpr truth cases[] = {{"small_vectors", small_vectors}, {"growing_vectors", growing_vectors}};

}  // namespace

int main(int count, char** arguments) { return run_truth(count, arguments, cases, std::size(cases)); }
