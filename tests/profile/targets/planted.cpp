// planted TRUTH: eight subsystems whose behaviour is known, and a log of what they did in the file TRUTH.
//
//     main -+- read_configuration > read_section --> make_node    96 nodes, never freed
//           +- parse_document > parse > ... -------> make_node    14,520 of one size, last in first out
//           +- serve -+- collect_texts > collect_words and lines  21,760 of uniform sizes, freed together
//           |         +- format_answer                            320 temporaries
//           +- look_up ----------------------------> make_node    5,120, 64 at a time, replaced at random
//           +- grow_buffer                                        4 chains of 12 reallocations
//     one thread: produce; another: consume                       192 messages, freed by the other thread
//     two threads: contend                                        60,000, as fast as they can
//
// While a block lives that is freed again, nothing allocates but what is logged: the threads start before,
// and end behind. Blocks live some 30 us and more, beside which the readings of the clock are little. All
// are in one heap, whose pages are there from the start: page faults would cost more than all calls together.
#include <malloc.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <latch>
#include <thread>

#include "planted_log.hpp"

namespace {

using planted::end;
using planted::make;
using planted::make_larger;

enum owner : std::uint32_t { configuration, parser, collector, answers, cache, buffers, exchange, contest };

constexpr const char* const subsystems[][2] = {
    {"configuration", "read_configuration"},
    {"parser", "parse_document"},
    {"collector", "collect_texts"},
    {"answers", "format_answer"},
    {"cache", "look_up"},
    {"buffers", "grow_buffer"},
    {"exchange", "produce"},
    {"contest", "contend"},
};

void* call_malloc(std::size_t size) { return std::malloc(size); }
void call_free(void* block) { std::free(block); }

void work_for(std::uint64_t ns) {
  const std::uint64_t start = planted::now();
  while (planted::now() - start < ns) {
  }
}

[[gnu::noinline]] void* make_node(owner by, std::size_t size) { return make(by, size, call_malloc); }

[[gnu::noinline]] void read_section(void** nodes) {
  for (std::size_t i = 0; i < 16; ++i) {
    nodes[i] = make_node(configuration, 6000 + i * 500);
    work_for(2'000);
  }
}

[[gnu::noinline]] void read_configuration() {
  static void* nodes[96];
  for (int section = 0; section < 6; ++section) read_section(nodes + section * 16);
}

[[gnu::noinline]] void parse(int depth) {  // NOLINT(misc-no-recursion): the recursion is planted
  void* node = make_node(parser, 48);
  if (depth > 0) {
    for (int child = 0; child < 3; ++child) parse(depth - 1);
  } else {
    work_for(30'000);
  }
  end(node, call_free);
}

[[gnu::noinline]] void parse_document() {
  parse(4);
  work_for(1'000);
}

// Texts of 16 to 271 bytes, each size as often as any other.
class collection {
 public:
  static constexpr int capacity = 272;

  void add() {
    const std::size_t size = 16 + made_++ * 37 % 256;
    texts_[held_++] = make(collector, size, [](std::size_t n) -> void* { return new char[n]; });
  }
  bool is_full() const { return held_ == capacity; }
  void drop() {
    for (int i = 0; i < held_; ++i) end(texts_[i], [](void* text) { delete[] static_cast<char*>(text); });
    held_ = 0;
  }

 private:
  void* texts_[capacity] = {};
  int held_ = 0;
  std::size_t made_ = 0;
};

[[gnu::noinline]] void collect_words(collection& texts) {
  for (int i = 0; i < 9; ++i) texts.add();
}

[[gnu::noinline]] void collect_lines(collection& texts) {
  for (int i = 0; i < 8; ++i) texts.add();
}

[[gnu::noinline]] void collect_texts(collection& texts) {
  collect_words(texts);
  work_for(500);
  collect_lines(texts);
  work_for(500);
}

[[gnu::noinline]] void format_answer(int number) {
  void* answer = make(answers, std::size_t{2000} << (number % 3), call_malloc);
  work_for(50'000);
  end(answer, call_free);
}

class entries {
 public:
  [[gnu::noinline]] void look_up() {
    void*& place = kept_[made_ < capacity ? made_ : random() % capacity];
    if (place != nullptr) end(place, call_free);
    place = make_node(cache, std::size_t{100} << (made_ % 4));
    ++made_;
  }
  void clear() {
    for (void* entry : kept_) end(entry, call_free);
  }

 private:
  static constexpr std::size_t capacity = 64;

  std::size_t random() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_;
  }

  void* kept_[capacity] = {};
  std::size_t made_ = 0;
  std::size_t state_ = 88'172'645'463'325'252;
};

[[gnu::noinline]] void serve(int requests) {
  static collection texts;
  static entries recent;
  for (int request = 0; request < requests; ++request) {
    collect_texts(texts);
    if (request % 4 == 0) format_answer(request / 4);
    recent.look_up();
    recent.look_up();
    recent.look_up();
    recent.look_up();
    if (texts.is_full()) {
      work_for(50'000);
      texts.drop();
    }
  }
  recent.clear();
}

[[gnu::noinline]] void grow_buffer() {
  std::size_t size = 64;
  void* buffer = make(buffers, size, call_malloc);
  for (int i = 0; i < 12; ++i) {
    work_for(60'000);
    buffer = make_larger(buffer, size *= 2);
  }
  work_for(60'000);
  end(buffer, call_free);
}

constexpr std::size_t messages = 192;
constexpr std::size_t messages_under_way = 16;
std::atomic<void*> ring[messages_under_way];

[[gnu::noinline]] void produce() {
  for (std::size_t i = 0; i < messages; ++i) {
    work_for(150'000);
    void* message = make(exchange, 2048 + i % 16 * 256, call_malloc);
    while (ring[i % messages_under_way].load() != nullptr) sched_yield();
    ring[i % messages_under_way].store(message);
  }
}

[[gnu::noinline]] void consume() {
  for (std::size_t i = 0; i < messages; ++i) {
    void* message = nullptr;
    while ((message = ring[i % messages_under_way].exchange(nullptr)) == nullptr) sched_yield();
    work_for(60'000);
    end(message, call_free);
  }
}

[[gnu::noinline]] void contend() {
  static constexpr std::size_t in_a_turn = 20;
  void* blocks[25][in_a_turn];
  for (int round = 0; round < 60; ++round) {
    for (auto& some : blocks) {
      const planted::turn mine;
      for (std::size_t i = 0; i < in_a_turn; ++i) some[i] = make(contest, 32 + i % 2 * 200, call_malloc);
    }
    for (auto& some : blocks) {
      const planted::turn mine;
      for (void* block : some) end(block, call_free);
    }
  }
}

constexpr int heap_size = 16 << 20;

// One arena for all threads; nothing is mapped beside it, nothing given back, nothing put off.
void keep_one_heap() {
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_TOP_PAD, heap_size);
  mallopt(M_MMAP_THRESHOLD, heap_size);
  mallopt(M_TRIM_THRESHOLD, 2 * heap_size);
  mallopt(M_MXFAST, 0);
}

// When the heap has grown once.
void touch_heap() {
  auto* const end = static_cast<volatile char*>(sbrk(0));
  for (volatile char* page = end - heap_size; page < end; page += 4096) *page = *page;
}

enum thread_number : std::uint32_t { main_thread, producer, consumer, contender, other_contender, threads };

enum stage : int { starting, exchanging, contending, leaving };

std::latch all_started(threads);
std::latch exchanged(3);
std::latch contended(3);
std::atomic<int> current_stage = starting;

void go_on_to(stage next) {
  current_stage.store(next);
  current_stage.notify_all();
}

void wait_for(stage wanted) {
  for (int s = current_stage.load(); s < wanted; s = current_stage.load()) current_stage.wait(s);
}

template <void work()>
std::thread helper(thread_number number, stage when, std::latch& done) {
  return std::thread([number, when, &done] {
    planted::enter_thread(number);
    all_started.arrive_and_wait();
    wait_for(when);
    work();
    done.count_down();
    wait_for(leaving);
  });
}

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count != 2) return 2;
  keep_one_heap();
  planted::enter_thread(main_thread);
  std::thread helpers[] = {
      helper<produce>(producer, exchanging, exchanged),
      helper<consume>(consumer, exchanging, exchanged),
      helper<contend>(contender, contending, contended),
      helper<contend>(other_contender, contending, contended),
  };
  all_started.arrive_and_wait();
  read_configuration();
  touch_heap();
  for (int document = 0; document < 120; ++document) parse_document();
  serve(1280);
  for (int buffer = 0; buffer < 4; ++buffer) grow_buffer();
  go_on_to(exchanging);
  exchanged.arrive_and_wait();
  go_on_to(contending);
  contended.arrive_and_wait();
  go_on_to(leaving);
  for (std::thread& running : helpers) running.join();
  planted::tell(arguments[1], subsystems, threads);
}
