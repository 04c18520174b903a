// serve: a server of pairs of threads, one of which frees what the other has allocated.
//
//     front: requests read, parsed --queue--> back: answered, requests freed --queue--> front: answers freed
//
// A request is some strings, a map of fields and a body; sizes from 16 bytes to 16 KiB. Sessions outlive many
// requests. Output is a checksum of all answers, the same in every run.
#include <array>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

struct request {
  std::uint64_t session = 0;
  std::string path;
  std::map<std::string, std::string> fields;
  std::vector<char> body;
};

struct answer {
  std::uint64_t session = 0;
  std::vector<std::string> lines;
};

// A few at a time, so that each thread has something to do.
template <class T>
class queue {
 public:
  void push(std::vector<std::unique_ptr<T>> some) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_.size() < most; });
    waiting_.push_back(std::move(some));
    changed_.notify_all();
  }
  void end() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }
  // Empty: nothing comes any more.
  [[nodiscard]] std::vector<std::unique_ptr<T>> pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ended_ || !waiting_.empty(); });
    return take();
  }
  // Empty: nothing is there now.
  [[nodiscard]] std::vector<std::unique_ptr<T>> try_pop() {
    const std::lock_guard lock(mutex_);
    return take();
  }

 private:
  static constexpr std::size_t most = 16;

  std::vector<std::unique_ptr<T>> take() {
    std::vector<std::unique_ptr<T>> some;
    if (waiting_.empty()) return some;
    some = std::move(waiting_.front());
    waiting_.pop_front();
    changed_.notify_all();
    return some;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::vector<std::unique_ptr<T>>> waiting_;
  bool ended_ = false;
};

class numbers {
 public:
  std::uint64_t operator()(std::uint64_t below) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return (state_ >> 11) % below;
  }

 private:
  std::uint64_t state_ = 88172645463325252;
};

std::unique_ptr<request> read_request(numbers& random) {
  auto made = std::make_unique<request>();
  made->session = random(5000);
  made->path = "/accounts/" + std::to_string(made->session) + "/orders/" + std::to_string(random(100'000));
  for (std::uint64_t i = random(9); i-- != 0;)
    made->fields["x-field-" + std::to_string(random(40))] = std::string(random(60), 'v');
  const bool is_upload = random(20) == 0;
  made->body.assign(is_upload ? 1024 + random(15'360) : random(400), static_cast<char>('a' + random(26)));
  return made;
}

// Keeps what a session has asked for last.
class back_end {
 public:
  std::unique_ptr<answer> answer_to(const request& asked) {
    auto made = std::make_unique<answer>();
    made->session = asked.session;
    std::vector<std::string>& history = sessions_[asked.session];
    history.push_back(asked.path);
    if (history.size() > 12) history.erase(history.begin(), history.begin() + 6);
    for (const std::string& path : history) made->lines.push_back("seen " + path);
    for (const auto& [name, value] : asked.fields) made->lines.push_back(name + ": " + value);
    made->lines.push_back(std::to_string(asked.body.size()) + " bytes");
    return made;
  }

 private:
  std::unordered_map<std::uint64_t, std::vector<std::string>> sessions_;
};

void serve(queue<request>& requests, queue<answer>& answers) {
  back_end back;
  for (;;) {
    std::vector<std::unique_ptr<request>> some = requests.pop();
    if (some.empty()) break;
    std::vector<std::unique_ptr<answer>> made;
    for (const auto& one : some) made.push_back(back.answer_to(*one));
    answers.push(std::move(made));
  }
  answers.end();
}

// A checksum of all answers.
std::uint64_t run_pair(std::uint64_t all) {
  constexpr std::uint64_t at_once = 64;
  queue<request> requests;
  queue<answer> answers;
  std::thread back(serve, std::ref(requests), std::ref(answers));
  numbers random;
  std::uint64_t checksum = 0;
  const auto finish = [&](const std::vector<std::unique_ptr<answer>>& some) {
    for (const auto& one : some)
      for (const std::string& line : one->lines)
        checksum = checksum * 31 + line.size() + static_cast<unsigned char>(line.back()) + one->session;
  };
  for (std::uint64_t done = 0; done < all; done += at_once) {
    std::vector<std::unique_ptr<request>> some;
    for (std::uint64_t i = 0; i < at_once; ++i) some.push_back(read_request(random));
    requests.push(std::move(some));
    for (auto ready = answers.try_pop(); !ready.empty(); ready = answers.try_pop()) finish(ready);
  }
  requests.end();
  for (auto ready = answers.pop(); !ready.empty(); ready = answers.pop()) finish(ready);
  back.join();
  return checksum;
}

}  // namespace

// serve [REQUESTS [PAIRS]]: as many requests in each pair of threads
int main(int argc, char** argv) {
  const std::uint64_t all = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 400'000;
  const std::uint64_t pairs = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  std::vector<std::thread> others;
  for (std::uint64_t pair = 1; pair < pairs; ++pair) others.emplace_back(run_pair, all);
  std::printf("%016llx\n", static_cast<unsigned long long>(run_pair(all)));
  for (std::thread& other : others) other.join();
}
