// tally: how many blocks and bytes a program has allocated, and how many lived at once.
//
//     total objects    max objects in use    average size    total memory    max in use    total/max
//
// The figures of the seed's Table 3, counted by the program itself: requested bytes, no heap's rounding.
// One for a process. Seed 002, section 5 (Table 3).
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>

namespace mallard::programs {

struct amount {
  std::uint64_t objects = 0;
  std::uint64_t bytes = 0;

  amount& operator+=(const amount& other) noexcept {
    objects += other.objects;
    bytes += other.bytes;
    return *this;
  }
  amount& operator-=(const amount& other) noexcept {
    objects -= other.objects;
    bytes -= other.bytes;
    return *this;
  }
};

class tally {
 public:
  static tally& of_process() noexcept {
    static tally all;
    return all;
  }

  void begin(const amount& a) noexcept {
    total_ += a;
    live_ += a;
    most_.objects = std::max(most_.objects, live_.objects);
    most_.bytes = std::max(most_.bytes, live_.bytes);
  }
  void end(const amount& a) noexcept { live_ -= a; }
  void count_region() noexcept { ++regions_; }

  // To standard error, one figure a line: standard output is the program's own.
  void print() const noexcept {
    const double objects = static_cast<double>(std::max<std::uint64_t>(total_.objects, 1));
    const double most = static_cast<double>(std::max<std::uint64_t>(most_.bytes, 1));
    const auto line = [](const char* name, std::uint64_t figure) {
      std::fprintf(stderr, "%-20s %14llu\n", name, static_cast<unsigned long long>(figure));
    };
    line("total objects", total_.objects);
    line("max objects in use", most_.objects);
    std::fprintf(stderr, "%-20s %14.1f\n", "average size", static_cast<double>(total_.bytes) / objects);
    line("total memory", total_.bytes);
    line("max in use", most_.bytes);
    std::fprintf(stderr, "%-20s %14.1f\n", "total/max", static_cast<double>(total_.bytes) / most);
    line("regions", regions_);
    line("left alive", live_.objects);
  }

 private:
  amount total_;
  amount live_;
  amount most_;
  std::uint64_t regions_ = 0;
};

}  // namespace mallard::programs
