#include "journal/drain/spool_description.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace mallard::journal {
namespace {

// Takes the text before the next zero off the front.
std::string take_text(std::string_view& texts) {
  const std::size_t size = std::min(texts.find('\0'), texts.size());
  std::string text(texts.substr(0, size));
  texts.remove_prefix(std::min(size + 1, texts.size()));
  return text;
}

}  // namespace

metadata describe_process(spool_header* spool) {
  metadata about;
  constexpr std::size_t most = name_bytes - sizeof(name_length);
  std::string_view texts(names_of(spool) + sizeof(name_length),
                         std::min<std::size_t>(spool->described, most));
  about.directory = take_text(texts);
  about.program = take_text(texts);
  while (!texts.empty()) about.arguments.push_back(take_text(texts));
  about.process = spool->attached;
  about.parent_process = spool->parent_process;
  about.start_unix_ns = spool->start_unix_ns;
  return about;
}

}  // namespace mallard::journal
