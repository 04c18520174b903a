#include "whole/contestants.hpp"

namespace mallard::whole {

std::string contestant::name() const {
  if (beneath != nullptr) return kind + " " + std::string(beneath->name);
  return again ? kind + " again" : kind;
}

std::vector<contestant> contestants() {
  std::vector<contestant> all;
  for (const char* kind : {"region", "sized_reap", "sized_reap_frees", "reap", "reap_frees"})
    all.push_back({kind, nullptr, false});
  for (const char* kind : {"region_emulator", "individual"})
    for (const harness::foreign_malloc& m : harness::foreign_mallocs()) all.push_back({kind, &m, false});
  all.push_back({"region", nullptr, true});
  return all;
}

}  // namespace mallard::whole
