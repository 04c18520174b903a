#include "whole/builds.hpp"

#include <algorithm>
#include <stdexcept>

namespace mallard::whole {

namespace {

bool is_meant(const build& c, const std::string& name) { return c.name() == name || c.kind == name; }

}  // namespace

std::string build::name() const {
  if (beneath != nullptr) return kind + " " + std::string(beneath->name);
  return again ? kind + " again" : kind;
}

std::vector<build> builds() {
  std::vector<build> all;
  for (const char* kind : {"region", "sized_reap", "sized_reap_frees", "reap", "reap_frees"})
    all.push_back({kind, nullptr, false});
  for (const char* kind : {"region_emulator", "individual"})
    for (const harness::foreign_malloc& m : harness::foreign_mallocs()) all.push_back({kind, &m, false});
  all.push_back({"region", nullptr, true});
  return all;
}

std::vector<build> builds(const std::vector<std::string>& names) {
  std::vector<build> all = builds();
  std::string known;
  for (const build& c : all) known += (known.empty() ? "" : ", ") + c.name();
  for (const std::string& name : names)
    if (std::ranges::none_of(all, [&](const build& c) { return is_meant(c, name); }))
      throw std::invalid_argument("unknown strategy " + name + "; known: " + known);
  if (names.empty()) return all;
  const auto unwanted = std::ranges::remove_if(all.begin() + 1, all.end(), [&](const build& c) {
    return std::ranges::none_of(names, [&](const std::string& name) { return is_meant(c, name); });
  });
  all.erase(unwanted.begin(), unwanted.end());
  return all;
}

}  // namespace mallard::whole
