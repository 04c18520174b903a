// One heap for many threads: workers allocate orders, the main thread frees them. Each thread has a cache of
// its own; what the main thread frees goes back to the others in batches, without a lock. With an argument
// the orders are of new and delete, so that `mallard record` sees them.
#include <array>
#include <cstdio>
#include <memory_resource>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "mallard/heap/synchronized_multipool.hpp"
#include "mallard/resource/resource.hpp"

namespace {

constexpr int workers = 4;
constexpr int orders_each = 10000;

// Orders on their way from the workers to the main thread.
class queue {
 public:
  explicit queue(std::pmr::memory_resource* memory) : waiting_(memory) {}

  void put(std::pmr::string order) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(order));
  }

  // All that wait, to be freed by the caller.
  std::pmr::vector<std::pmr::string> take() {
    const std::lock_guard lock(mutex_);
    std::pmr::vector<std::pmr::string> taken(waiting_.get_allocator());
    taken.swap(waiting_);
    return taken;
  }

 private:
  std::mutex mutex_;
  std::pmr::vector<std::pmr::string> waiting_;
};

}  // namespace

int main(int argc, char**) {
  mallard::resource<mallard::synchronized_multipool> pools;
  {
    std::pmr::memory_resource* const memory = argc > 1 ? std::pmr::new_delete_resource() : &pools;
    queue orders(memory);
    std::array<std::thread, workers> threads;
    for (int w = 0; w < workers; ++w)
      threads[static_cast<std::size_t>(w)] = std::thread([w, memory, &orders] {
        for (int i = 0; i < orders_each; ++i) {
          std::pmr::string order("order number ", memory);
          order += std::to_string(w * orders_each + i) + ", for the pond behind the mill";
          orders.put(std::move(order));
        }
      });

    int taken = 0;
    std::size_t characters = 0;
    while (taken < workers * orders_each) {
      const auto batch = orders.take();
      if (batch.empty()) std::this_thread::yield();
      taken += static_cast<int>(batch.size());
      for (const std::pmr::string& order : batch) characters += order.size();
    }
    for (std::thread& thread : threads) thread.join();
    std::printf("%d orders of %zu characters\n", taken, characters);
  }
  std::printf("live at the end: %zu bytes\n", pools.heap().usage().granted);
}

// It prints:
//     40000 orders of 1908890 characters
//     live at the end: 0 bytes
