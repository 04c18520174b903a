// A nested structure that nobody takes apart: it is built in a heap, and ends with the heap's blocks.
// For what is built, asked and thrown away as a whole, its destructor is a walk over every node, for nothing.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory_resource>
#include <string>
#include <string_view>
#include <vector>

#include "mallard/allocator/winkout.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/resource/resource.hpp"

namespace {

// Where each word stands. It owns nothing but memory of its allocator's, and hands that on to its member.
class word_index {
 public:
  using allocator_type = std::pmr::polymorphic_allocator<>;
  explicit word_index(const allocator_type& allocator) : places_(allocator) {}

  void read(std::string_view text) {
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find(' ', begin), text.size());
      places_[std::pmr::string(text.substr(begin, end - begin), places_.get_allocator())].push_back(begin);
      begin = end + 1;
    }
  }

  [[nodiscard]] std::size_t words() const { return places_.size(); }
  [[nodiscard]] std::size_t count(const char* word) const {
    const auto found = places_.find(word);
    return found == places_.end() ? 0 : found->second.size();
  }

 private:
  std::pmr::map<std::pmr::string, std::pmr::vector<std::size_t>, std::less<>> places_;
};

}  // namespace

// So it keeps the rules of winkout_safe.hpp; without this line winkout<word_index> does not compile.
template <>
inline constexpr bool mallard::winkout_safe<word_index> = true;

int main() {
  mallard::resource<mallard::multipool> memory;
  for (const char* text : {"to be or not to be", "a duck is a duck is a duck", "words"}) {
    auto& index = mallard::winkout<word_index>(memory);
    for (int i = 0; i < 100; ++i) index.read(text);
    std::printf("%zu different words, \"duck\" %zu times\n", index.words(), index.count("duck"));
    memory.heap().clear();  // the index ends here; its memory is for the next one
  }
  memory.heap().release();
  std::printf("after release the heap holds %zu bytes\n", memory.heap().usage().held);
}

// It prints:
//     4 different words, "duck" 0 times
//     3 different words, "duck" 300 times
//     1 different words, "duck" 0 times
//     after release the heap holds 0 bytes
