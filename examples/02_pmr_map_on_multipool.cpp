// A std::pmr map on a pool for each size: erased nodes are reused, so churn needs no new memory.
#include <cstdio>
#include <map>
#include <memory_resource>
#include <string>

#include "mallard/heap/multipool.hpp"
#include "mallard/resource/resource.hpp"

int main() {
  mallard::resource<mallard::multipool> pools;
  std::pmr::map<int, std::pmr::string> names(&pools);

  const auto fill = [&names] {
    for (int i = 0; i < 1000; ++i) names.emplace(i, "duck number " + std::to_string(i) + " of the pond");
  };
  fill();
  const std::size_t held = pools.heap().usage().held;
  for (int round = 0; round < 100; ++round) {
    names.clear();
    fill();
  }
  std::printf("%zu names, the last one \"%s\"\n", names.size(), names.rbegin()->second.c_str());
  std::printf("100 rounds later the pools hold %s\n",
              pools.heap().usage().held == held ? "as much as before" : "something else");
}

// It prints:
//     1000 names, the last one "duck number 999 of the pond"
//     100 rounds later the pools hold as much as before
