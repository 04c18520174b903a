// Tells the recorder what it cannot see: an arena's blocks, and which subsystem allocates.
//
//     mallard-record -o run.mlrd ./example_04_annotate && mallard info run.mlrd
//
// shows one region_create, three region_allocate and one region_destroy. Without the recorder each
// annotation costs a load and a branch.
#include <cstddef>
#include <iostream>
#include <string>

#include "mallard/annotate.h"

namespace {

class arena {
 public:
  arena() { mallard_region_create(this, nullptr); }
  ~arena() { mallard_region_destroy(this); }
  arena(const arena&) = delete;
  arena& operator=(const arena&) = delete;

  void* allocate(std::size_t size) {
    if (size > sizeof bytes_ - used_) return nullptr;
    void* block = bytes_ + used_;
    used_ += size;
    mallard_region_allocate(this, block, size);
    return block;
  }

  [[nodiscard]] std::size_t used() const { return used_; }

 private:
  std::size_t used_ = 0;
  alignas(std::max_align_t) char bytes_[1024];
};

std::string parse(const char* text) {
  const mallard::scope parser("parser");  // what is allocated until the return is the parser's
  return std::string(text) + ", a text that takes an allocation";
}

}  // namespace

int main() {
  arena words;
  for (const std::size_t size : {16u, 32u, 64u}) words.allocate(size);
  std::cout << words.used() << " bytes in the arena\n" << parse("annotated") << '\n';
}

// It prints:
//     112 bytes in the arena
//     annotated, a text that takes an allocation
