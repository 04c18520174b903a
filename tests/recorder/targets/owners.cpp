// owners [COUNT [TURNS]]: containers of one class that allocate at one place; prints "size owner" for each
// first block. With COUNT, as many allocations follow, by two threads at once, or by TURNS threads one after
// the other.
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {

class bag {
 public:
  // Needs `this` after the call: it is in a register that is kept, or on the stack.
  [[gnu::noinline]] void add(std::size_t size) {
    void* made = std::malloc(size);
    std::free(last_);
    last_ = made;
    ++added_;
  }

 private:
  void* last_ = nullptr;
  int added_ = 0;
};

bag bags[20];

void churn(int count) {
  static thread_local bag own;
  for (int i = 0; i < count; ++i) own.add(64);
}

}  // namespace

int main(int argument_count, char** arguments) {
  for (int i = 0; i < 20; ++i) bags[i].add(7000 + static_cast<std::size_t>(i));
  for (int i = 0; i < 20; ++i)
    std::printf("%d %lu\n", 7000 + i, static_cast<unsigned long>(reinterpret_cast<std::uintptr_t>(&bags[i])));
  if (argument_count > 2) {
    const int turns = std::atoi(arguments[2]);
    for (int i = 0; i < turns; ++i) std::thread(churn, std::atoi(arguments[1]) / turns).join();
  } else if (argument_count > 1) {
    const int count = std::atoi(arguments[1]);
    std::thread other(churn, count / 2);
    churn(count / 2);
    other.join();
  }
}
