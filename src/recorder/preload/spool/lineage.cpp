#include "recorder/preload/spool/lineage.hpp"

#include <string.h>

#include "recorder/preload/spool/spool_mapping.hpp"

namespace mallard::recorder {
using namespace journal;

constinit lineage_record lineage{};

namespace {

// Takes a number and the colon behind it; false if they are not there.
bool take_number(const char*& text, std::uint32_t& number) noexcept {
  number = 0;
  for (; *text >= '0' && *text <= '9'; ++text) number = number * 10 + static_cast<std::uint32_t>(*text - '0');
  return *text++ == ':';
}

}  // namespace

bool join_lineage(const char* variable) noexcept {
  const char* path = variable;
  std::uint32_t number = 0;
  std::uint32_t process = 0;
  if (!take_number(path, number) || !take_number(path, process)) return false;
  const std::size_t length = strlen(path);
  if (length >= sizeof lineage.spool) return false;
  spool_header* root = map_spool_page(path);
  if (root == nullptr) return false;
  memcpy(lineage.spool, path, length + 1);
  lineage.number = number;
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
