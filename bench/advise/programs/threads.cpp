// Programs for which it matters which thread allocates and which one frees.
//
//     pipeline   one thread writes messages, another one reads and frees them      malloc --queue--> free
//     workers    four threads, each with objects of its own that end at random     malloc, free | malloc,
//     free | ...
#include <array>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "truth.h"

namespace {

struct message {
  std::uint64_t value;
  std::array<std::uint64_t, 7> more;
};
using batch = std::vector<std::unique_ptr<message>>;

// Of few batches: a thread that is too early waits.
class queue {
 public:
  void push(batch one) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return batches_.size() < 8; });
    batches_.push_back(std::move(one));
    changed_.notify_all();
  }
  batch pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !batches_.empty(); });
    batch first = std::move(batches_.front());
    batches_.erase(batches_.begin());
    changed_.notify_all();
    return first;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<batch> batches_;
};

NAMED std::unique_ptr<message> write_message(std::uint64_t value) {
  return std::unique_ptr<message>(new message{value, {}});
}

std::uint64_t pipeline(input* in) {
  queue between;
  const std::uint64_t batches = either(in, 10'000, 6'000);
  std::jthread producer([&, own = *in]() mutable {
    for (std::uint64_t i = 0; i != batches; ++i) {
      batch one(draw_between(&own, 100, either(in, 300, 700)));
      for (auto& each : one) each = write_message(draw(&own));
      between.push(std::move(one));
    }
  });
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i != batches; ++i)
    for (const auto& one : between.pop()) sum = steps(sum + one->value, 30);
  return sum;
}

struct task {
  std::uint64_t value;
  std::array<std::uint64_t, 9> more;
};
struct reply {
  std::uint64_t value;
  std::array<std::uint64_t, 3> more;
};

NAMED std::unique_ptr<task> make_task(std::uint64_t value) {
  return std::unique_ptr<task>(new task{value, {}});
}
NAMED std::unique_ptr<reply> make_reply(std::uint64_t value) {
  return std::unique_ptr<reply>(new reply{value, {}});
}

std::uint64_t work(input in) {
  std::vector<std::unique_ptr<task>> tasks(either(&in, 20'000, 30'000));
  std::vector<std::unique_ptr<reply>> replies(tasks.size());
  std::uint64_t sum = 0;
  for (std::uint64_t i = either(&in, 250'000, 300'000); i != 0; --i) {
    const std::uint64_t random = draw(&in);
    const std::size_t place = random % tasks.size();
    if (tasks[place] != nullptr) sum = steps(sum + tasks[place]->value, 20);
    tasks[place] = make_task(random);
    replies[random / 7 % replies.size()] = make_reply(sum);
  }
  return sum;
}

std::uint64_t workers(input* in) {
  std::array<std::uint64_t, 4> sums{};
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t& sum : sums) {
      const input own{in->is_large, draw(in)};
      threads.emplace_back([&sum, own] { sum = work(own); });
    }
  }
  return sums[0] ^ sums[1] << 1 ^ sums[2] << 2 ^ sums[3] << 3;
}

constexpr truth cases[] = {{"pipeline", pipeline}, {"workers", workers}};

}  // namespace

int main(int count, char** arguments) { return run_truth(count, arguments, cases, std::size(cases)); }
