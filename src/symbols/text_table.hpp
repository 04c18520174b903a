// text_table: texts by number, each of them once. The first is the empty one.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace mallard::symbols {

class text_table {
 public:
  text_table() { number({}); }

  std::uint32_t number(const std::string& text) {
    const auto [at, is_new] = numbers_.emplace(text, static_cast<std::uint32_t>(texts_.size()));
    if (is_new) texts_.push_back(text);
    return at->second;
  }

  [[nodiscard]] std::vector<std::string> take() { return std::move(texts_); }

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<std::string> texts_;
};

}  // namespace mallard::symbols
