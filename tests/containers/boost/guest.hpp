// guest: what one thread does with one v2_allocator that others use at the same time.
//
//     step   array | command | shrink | burst of nodes | burst of arrays | vector | list | string | pass on
//     array  [count seed ~seed][...... bytes that follow from the seed ......]
//
// It draws its steps from a seed of its own. An array carries all that is known of it, so that it may pass
// from thread to thread by its address alone; a block that overlaps another, or that two threads were given,
// is found damaged when it ends. violation() tells the first of what was wrong. One thread at a time.
//
// four_guests<Heap>: four threads on one v2_allocator, round after round, with a quiet time after each.
//
//     round      thread 1  |--steps of guest 1--| ends      new threads take the same guests up in the next
//                ...       |        ...         |
//                thread 4  |--steps of guest 4--| ends      quiet: the heap is validated
//
// So blocks outlive the threads that asked for them, and are ended by others.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/container/list.hpp>
#include <boost/container/string.hpp>
#include <boost/container/vector.hpp>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "mallard/allocator/resize_objects.hpp"
#include "mallard/allocator/v2_allocator.hpp"
#include "mallard/core/concepts.hpp"
#include "model/random.hpp"

namespace mallard::containers {

// Twelve bytes: an expansion backward is one of several objects.
struct triple {
  std::array<std::uint32_t, 3> words;
};

// Arrays that wait for a thread that ends them.
using mailboxes = std::array<std::atomic<triple*>, 64>;

template <concurrent Heap>
class guest {
  template <class T>
  using allocator_of = v2_allocator<T, Heap>;

 public:
  guest(Heap& heap, mailboxes& boxes, std::uint64_t seed)
      : heap_(heap),
        triples_(heap),
        boxes_(boxes),
        random_(seed),
        vector_(heap),
        list_(heap),
        string_(heap) {}
  guest(const guest&) = delete;
  guest& operator=(const guest&) = delete;
  ~guest() { leave(); }

  // What was found wrong first; null if nothing was.
  [[nodiscard]] const char* violation() const { return violation_; }

  void step() {
    static constexpr std::array<void (guest::*)(), 16> steps = {
        &guest::take_array,  &guest::take_array,  &guest::end_array,   &guest::end_array,
        &guest::grow_array,  &guest::grow_array,  &guest::grow_array,  &guest::shrink_array,
        &guest::pass_on,     &guest::pass_on,     &guest::burst_nodes, &guest::burst_arrays,
        &guest::work_vector, &guest::work_vector, &guest::work_list,   &guest::work_string};
    std::invoke(steps[random_.below(steps.size())], this);
    if constexpr (thread_caching<Heap>)
      if (random_.below(4096) == 0) heap_.flush();
  }

  // Ends all that it has.
  void leave() {
    while (!arrays_.empty()) end_array();
    vector_.clear();
    vector_.shrink_to_fit();
    list_.clear();
    string_.clear();
    string_.shrink_to_fit();
  }

  // Ends an array, no matter who had it.
  void end(triple* array) { triples_.deallocate(array, check(array)); }

 private:
  static constexpr std::size_t most_arrays = 96;

  void take_array() {
    if (arrays_.size() == most_arrays) return end_array();
    const std::size_t count = any_count();
    keep(triples_.allocate(count), count);
  }

  void end_array() {
    if (arrays_.empty()) return;
    end(take_out(random_.below(arrays_.size())));
  }

  void grow_array() {
    if (arrays_.empty()) return;
    triple*& mine = arrays_[random_.below(arrays_.size())];
    const std::size_t count = check(mine);
    const std::size_t limit = count + random_.between(1, 30);
    std::size_t size = limit + random_.below(2 * count);
    triple* reuse = mine;
    const auto ways = static_cast<allocation_type>(random_.between(1, 7));
    triple* const now = triples_.allocation_command(ways | commands::nothrow_allocation, limit, size, reuse);
    if (now == nullptr) return;
    if (size < limit) return report("a block has grown to less than its limit");
    std::memmove(now, mine, sizeof(triple));
    if (reuse == nullptr) triples_.deallocate(mine, count);
    mine = now;
    fill(mine, size);
  }

  void shrink_array() {
    if (arrays_.empty()) return;
    triple* const mine = arrays_[random_.below(arrays_.size())];
    const std::size_t count = check(mine);
    const std::size_t limit = random_.between(1, count);
    std::size_t size = random_.between(1, limit);
    triple* reuse = mine;
    const auto way = random_.below(2) == 0 ? commands::shrink_in_place : commands::try_shrink_in_place;
    triple* const now = triples_.allocation_command(way, limit, size, reuse);
    if (now != nullptr && now != mine) report("a block was moved to shrink");
    if (now != nullptr) fill(mine, std::min(size, count));
  }

  // An array goes to a thread, and what another left there is taken.
  void pass_on() {
    if (arrays_.empty()) return;
    triple* const given = take_out(random_.below(arrays_.size()));
    triple* const found = boxes_[random_.below(boxes_.size())].exchange(given, std::memory_order_acq_rel);
    if (found != nullptr) arrays_.push_back(found);
    if (arrays_.size() > most_arrays) end_array();
  }

  void burst_nodes() {
    typename allocator_of<triple>::multiallocation_chain nodes;
    const std::size_t count = random_.between(1, 30);
    triples_.allocate_individual(count, nodes);
    std::array<triple*, 30> taken{};
    for (std::size_t i = 0; i < count; ++i) fill(taken[i] = nodes.pop_front(), 1);
    for (std::size_t i = 0; i < count; ++i) {
      static_cast<void>(check(taken[i]));
      if (random_.below(4) == 0)
        triples_.deallocate_one(taken[i]);
      else
        nodes.push_front(taken[i]);
    }
    triples_.deallocate_individual(nodes);
  }

  void burst_arrays() {
    typename allocator_of<triple>::multiallocation_chain arrays;
    if (arrays_.size() + 10 > most_arrays) {
      for (int i = 0; i < 40; ++i) {
        triple* const ended = take_out(random_.below(arrays_.size()));
        static_cast<void>(check(ended));
        arrays.push_back(ended);
      }
      return triples_.deallocate_many(arrays);
    }
    std::array<std::size_t, 10> lengths{};
    for (std::size_t& length : lengths) length = any_count();
    triples_.allocate_many(lengths.data(), lengths.size(), arrays);
    for (const std::size_t length : lengths) keep(arrays.pop_front(), length);
  }

  // Its elements count up from its first one.
  void work_vector() {
    if (!vector_.empty() && vector_.back() - vector_.front() != vector_.size() - 1)
      report("a vector is damaged");
    if (vector_.size() > 20000 || random_.below(64) == 0) {
      vector_.clear();
      vector_.shrink_to_fit();
    } else if (random_.below(8) == 0) {
      vector_.erase(vector_.end() - static_cast<std::ptrdiff_t>(vector_.size() / 4), vector_.end());
      vector_.shrink_to_fit();
    }
    for (std::size_t i = random_.between(1, 100); i > 0; --i)
      vector_.push_back(vector_.empty() ? random_.below(1000) : vector_.back() + 1);
  }

  void work_list() {
    if (!list_.empty() && list_.back() - list_.front() != list_.size() - 1) report("a list is damaged");
    std::array<std::uint64_t, 25> more{};
    for (std::uint64_t next = list_.empty() ? 0 : list_.back() + 1; std::uint64_t& m : more) m = next++;
    list_.insert(list_.end(), more.begin(), more.end());
    if (list_.size() > 400) list_.erase(list_.begin(), std::next(list_.begin(), 300));
    if (list_.size() > 100) list_.pop_front();
  }

  void work_string() {
    if (!string_.empty() && string_.front() != string_.back()) report("a string is damaged");
    if (string_.size() > 3000) {
      string_.clear();
      string_.shrink_to_fit();
    }
    string_.append(random_.between(1, 200), 'm');
  }

  // Few objects mostly, sometimes thousands, rarely more than the heap keeps in chunks.
  [[nodiscard]] std::size_t any_count() {
    const std::size_t chosen = random_.below(1024);
    if (chosen == 0) return random_.spread(4096, 16384);
    return chosen < 40 ? random_.spread(64, 4096) : random_.spread(1, 64);
  }

  void keep(triple* array, std::size_t count) {
    fill(array, count);
    arrays_.push_back(array);
  }

  triple* take_out(std::size_t i) {
    std::swap(arrays_[i], arrays_.back());
    triple* const taken = arrays_.back();
    arrays_.pop_back();
    return taken;
  }

  void fill(triple* array, std::size_t count) {
    const auto seed = static_cast<std::uint32_t>(random_.next());
    *array = {static_cast<std::uint32_t>(count), seed, ~seed};
    std::memset(array + 1, static_cast<int>(seed & 0xFF), (count - 1) * sizeof(triple));
  }

  // The objects of an array, which is intact or reported; of a long one its ends are looked at.
  [[nodiscard]] std::size_t check(const triple* array) {
    const auto [count, seed, inverse] = array->words;
    if (seed != ~inverse || count == 0) {
      report("an array's beginning is damaged");
      return 1;
    }
    const auto* const bytes = reinterpret_cast<const unsigned char*>(array + 1);
    const std::size_t size = (std::size_t{count} - 1) * sizeof(triple);
    const auto is_other = [byte = static_cast<unsigned char>(seed & 0xFF)](unsigned char b) {
      return b != byte;
    };
    const std::size_t looked_at = std::min<std::size_t>(size, 300);
    if (std::any_of(bytes, bytes + looked_at, is_other)) report("an array's contents are damaged");
    if (std::any_of(bytes + size - looked_at, bytes + size, is_other)) report("an array's end is damaged");
    return count;
  }

  void report(const char* what) {
    if (violation_ == nullptr) violation_ = what;
  }

  Heap& heap_;
  allocator_of<triple> triples_;
  mailboxes& boxes_;
  model::random_source random_;
  const char* violation_ = nullptr;
  std::vector<triple*> arrays_;
  boost::container::vector<std::uint64_t, allocator_of<std::uint64_t>> vector_;
  boost::container::list<std::uint64_t, allocator_of<std::uint64_t>> list_;
  boost::container::basic_string<char, std::char_traits<char>, allocator_of<char>> string_;
};

template <class Heap>
class four_guests {
 public:
  explicit four_guests(std::uint64_t seed) {
    for (std::unique_ptr<guest<Heap>>& g : guests_) g = std::make_unique<guest<Heap>>(heap_, boxes_, seed++);
  }

  [[nodiscard]] Heap& heap() { return heap_; }

  // Lets each thread take as many steps.
  void work(std::size_t steps) {
    std::vector<std::thread> threads;
    for (const std::unique_ptr<guest<Heap>>& g : guests_)
      threads.emplace_back([&g, steps] {
        for (std::size_t i = 0; i < steps && g->violation() == nullptr; ++i) g->step();
      });
    for (std::thread& t : threads) t.join();
  }

  // What a guest has found wrong, or the heap of itself; empty if nothing is.
  [[nodiscard]] std::string violation() const {
    for (const std::unique_ptr<guest<Heap>>& g : guests_)
      if (g->violation() != nullptr) return g->violation();
    if constexpr (inspectable<Heap>)
      if (const mallard::violation v = heap_.validate()) return v.what;
    return {};
  }

  // Ends all blocks.
  void leave() {
    for (std::atomic<triple*>& box : boxes_)
      if (triple* const left = box.exchange(nullptr); left != nullptr) guests_[0]->end(left);
    for (const std::unique_ptr<guest<Heap>>& g : guests_) g->leave();
  }

 private:
  Heap heap_;
  mailboxes boxes_{};
  std::array<std::unique_ptr<guest<Heap>>, 4> guests_;
};

}  // namespace mallard::containers
