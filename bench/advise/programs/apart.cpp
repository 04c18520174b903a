// Programs for which it matters where blocks lie: apart in memory, a walk meets nothing else.
//
//     subsystems   60 registries of one class, filled in turn, read one after the other [3][1][2][1][3]...
//     kinds        six registries, each of a class of its own                               the same
//     long_lived   one block in each page stays when all others of the page have gone [.........k.......]
//     phases       eight phases, each of a class of its own, of which few blocks stay [1..][2..][3..]...
#include <array>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "truth.h"

namespace {

// The classes of `kinds` differ in what they make of a key, so that the compiler does not make them one.
template <std::size_t Kind>
class registry {
 public:
  NAMED void add(std::uint64_t key) {
    known_.try_emplace(key, entry{key + Kind, {}});
    log_.push_back({key, {}});
  }

  // The oldest gives way.
  NAMED void renew(std::uint64_t key) {
    if (!log_.empty()) {
      known_.erase(log_.front().key);
      log_.pop_front();
    }
    add(key);
  }

  [[nodiscard]] NAMED std::uint64_t walk() const {
    // Else a second walk would find what the first one has found, and be left out.
    asm volatile("" ::: "memory");
    std::uint64_t sum = 0;
    for (const auto& [key, value] : known_) sum += key ^ value.key << 1;
    for (const entry& value : log_) sum += value.key;
    return sum;
  }

 private:
  struct entry {
    std::uint64_t key;
    std::array<std::uint64_t, 5> more;
  };
  std::map<std::uint64_t, entry> known_;
  std::list<entry> log_;
};

std::uint64_t subsystems(input* in) {
  std::vector<registry<2>> all(either(in, 60, 84));
  const std::uint64_t entries = either(in, 60'000, 90'000);
  for (std::uint64_t i = 0; i != entries; ++i) all[draw(in) % all.size()].add(draw(in));
  for (std::uint64_t i = 0; i != entries; ++i) all[draw(in) % all.size()].renew(draw(in));
  std::uint64_t sum = 0;
  for (std::uint64_t pass = either(in, 15, 12); pass != 0; --pass)
    for (const auto& one : all) sum += one.walk();
  return sum;
}

std::uint64_t kinds(input* in) {
  std::tuple<registry<0>, registry<1>, registry<2>, registry<3>, registry<4>, registry<5>> all;
  const auto one_of = [&](std::uint64_t number, auto act) {
    std::apply([&](auto&... one) { ((number-- == 0 ? act(one) : void()), ...); }, all);
  };
  const std::uint64_t entries = either(in, 45'000, 80'000);
  for (std::uint64_t i = 0; i != entries; ++i) one_of(draw(in) % 6, [&](auto& one) { one.add(draw(in)); });
  for (std::uint64_t i = 0; i != entries; ++i) one_of(draw(in) % 6, [&](auto& one) { one.renew(draw(in)); });
  std::uint64_t sum = 0;
  for (std::uint64_t pass = either(in, 25, 18); pass != 0; --pass)
    std::apply([&](const auto&... one) { ((sum += one.walk()), ...); }, all);
  return sum;
}

// No larger than a row, so that a malloc with lists by size does not tell them apart either.
struct summary {
  summary* next;
  std::uint64_t total;
  std::array<std::uint64_t, 4> more;
};

NAMED summary* summarise(summary* next, std::uint64_t total) { return new summary{next, total, {}}; }

NAMED char* read_row(input* in) {
  const std::uint64_t size = draw_between(in, either(in, 40, 24), sizeof(summary));
  char* const row = new char[size];
  row[0] = row[size - 1] = static_cast<char>(size);
  return row;
}

// Rows are read, one summary is kept of a page of them, and the rows go. Summaries are what is worked with.
std::uint64_t long_lived(input* in) {
  std::vector<char*> rows(either(in, 600'000, 900'000));
  summary* kept = nullptr;
  std::uint64_t total = 0;
  for (std::size_t i = 0; i != rows.size(); ++i) {
    rows[i] = read_row(in);
    total += static_cast<unsigned char>(rows[i][0]);
    if (i % 64 == 0) kept = summarise(kept, total);
  }
  for (char* const row : rows) delete[] row;
  for (std::uint64_t pass = either(in, 300, 250); pass != 0; --pass)
    for (summary* one = kept; one != nullptr; one = one->next) total += one->total += pass;
  while (kept != nullptr) delete std::exchange(kept, kept->next);
  return total;
}

struct part {
  std::uint64_t value;
  std::array<std::uint64_t, 9> more;
};
using parts = std::vector<std::unique_ptr<part>>;

// Of its blocks one in 400 stays until the program ends.
template <std::size_t Phase>
NAMED std::uint64_t phase(input* in, parts& stays) {
  parts all(either(in, 60'000, 90'000));
  for (auto& one : all) one.reset(new part{draw(in) + Phase, {}});
  for (std::size_t i = 0; i != 2 * all.size(); ++i)
    all[draw(in) % all.size()].reset(new part{draw(in) - Phase, {}});
  std::uint64_t sum = 0;
  for (std::uint64_t pass = 0; pass != 4; ++pass)
    for (const auto& one : all) sum += one->value += pass;
  for (std::size_t i = 0; i < all.size(); i += 400) stays.push_back(std::move(all[i]));
  return sum;
}

template <std::size_t... Phase>
std::uint64_t all_phases(input* in, std::index_sequence<Phase...>) {
  parts stays;
  std::uint64_t sum = 0;
  ((sum += phase<Phase>(in, stays)), ...);
  return sum + stays.size();
}

std::uint64_t phases(input* in) { return all_phases(in, std::make_index_sequence<8>()); }

constexpr truth cases[] = {
    {"subsystems", subsystems}, {"kinds", kinds}, {"long_lived", long_lived}, {"phases", phases}};

}  // namespace

int main(int count, char** arguments) { return run_truth(count, arguments, cases, std::size(cases)); }
