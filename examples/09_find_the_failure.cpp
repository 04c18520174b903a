// What if memory runs out just here? for_each_failure asks it at every request of a piece of code, and the
// test resource sees what is wrong afterwards: here an order book that forgets a note when its index cannot
// grow. Reports go to a handler that prints them; by default they are printed with the places and the program
// ends.
#include <cstdio>
#include <memory_resource>
#include <vector>

#include "mallard/resource/for_each_failure.hpp"
#include "mallard/resource/test_resource.hpp"

namespace {

struct note {
  char text[40];
};

// Owns its notes.
class order_book {
 public:
  explicit order_book(std::pmr::memory_resource* memory) : notes_(memory) {}
  order_book(const order_book&) = delete;
  order_book& operator=(const order_book&) = delete;
  ~order_book() {
    for (note* n : notes_) allocator().delete_object(n);
  }

  void add_carelessly(const note& text) {
    notes_.push_back(allocator().new_object<note>(text));  // if this push_back throws, nobody has the note
  }

  void add(const note& text) {
    notes_.push_back(nullptr);  // the place first: what may fail comes before what must not be lost
    try {
      notes_.back() = allocator().new_object<note>(text);
    } catch (...) {
      notes_.pop_back();
      throw;
    }
  }

 private:
  std::pmr::polymorphic_allocator<> allocator() { return notes_.get_allocator(); }

  std::pmr::vector<note*> notes_;
};

}  // namespace

int main() {
  mallard::test_resource memory("orders");
  memory.on_mismatch(
      [](const mallard::misuse_report& report, void*) {
        std::printf("%s: %s of %zu bytes %s\n", report.heap, mallard::what_happened(report.what), report.size,
                    report.when == nullptr ? "at the end" : report.when);
      },
      nullptr);

  const auto fill_with = [&memory](auto add) {
    return mallard::for_each_failure(memory, [&] {
      order_book book(&memory);
      for (int i = 0; i < 3; ++i) (book.*add)(note{"two of these, please"});
    });
  };
  std::printf("carelessly: %zu ways to fail\n", fill_with(&order_book::add_carelessly));
  const std::size_t leaks = memory.mismatches(mallard::misuse::leaked);
  std::printf("with care: %zu ways to fail\n", fill_with(&order_book::add));
  std::printf("notes lost: %zu, then %zu\n", leaks, memory.mismatches(mallard::misuse::leaked) - leaks);
}

// It prints:
//     orders: leak of 40 bytes after request 2 failed
//     orders: leak of 40 bytes after request 4 failed
//     orders: leak of 40 bytes after request 6 failed
//     carelessly: 6 ways to fail
//     with care: 6 ways to fail
//     notes lost: 3, then 0
