#include "recorder/preload/spool/lineage.hpp"

#include <string.h>

#include "recorder/preload/spool/spool_mapping.hpp"

namespace mallard::recorder {
using namespace journal;

constinit lineage_record lineage{};

bool join_lineage(const char* variable) noexcept {
  std::uint32_t process = 0;
  while (*variable >= '0' && *variable <= '9') {
    process = process * 10 + static_cast<std::uint32_t>(*variable - '0');
    ++variable;
  }
  if (*variable != ':') return false;
  const char* path = variable + 1;
  const std::size_t length = strlen(path);
  if (length >= sizeof lineage.spool) return false;
  spool_header* root = map_spool_page(path);
  if (root == nullptr) return false;
  memcpy(lineage.spool, path, length + 1);
  lineage.process = process;
  lineage.root = root;
  return true;
}

bool children_are_recorded() noexcept {
  const spool_header* root = lineage.root;
  return root != nullptr && root->options.children != 0 && root->stopped == 0 && root->left_alone == 0 &&
         root->gave_up == 0;
}

}  // namespace mallard::recorder
