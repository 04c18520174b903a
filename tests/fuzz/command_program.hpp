// command_program: bytes as calls of one v2_allocator, held against a shadow of what must live.
//
//     byte:  what is done | which block | how many | ways ...        nothing left: all is ended, the heap is
//     empty shadow:   begin -> {end, objects, seed}       contents of each follow from its seed
//
// After each call: a block lies in the heap, is aligned, overlaps none that lives, has what was asked for,
// and what it had; what failed has changed nothing of the others; the heap's own walk finds it sound. What is
// broken ends the program with a line, as a fuzzer wants it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <new>
#include <vector>

#include "mallard/allocator/resize_objects.hpp"
#include "mallard/allocator/v2_allocator.hpp"
#include "mallard/core/align.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/concepts.hpp"

namespace mallard::fuzz {

inline void demand(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "shadow heap: %s\n", what);
  std::abort();
}

// The bytes of one run; zeros behind the last one.
class tape {
 public:
  tape(const std::uint8_t* data, std::size_t size) : at_(data), end_(data + size) {}

  [[nodiscard]] bool empty() const { return at_ == end_; }
  std::size_t next() { return empty() ? 0 : *at_++; }
  std::size_t below(std::size_t bound) { return next() % bound; }

  // Few mostly, up to 65535, and now and then what no heap can have.
  std::size_t count() {
    const std::size_t kind = next();
    if (kind < 160) return kind;
    const std::size_t more = next();
    if (kind < 224) return (kind - 160) * 16 + more;
    if (kind < 248) return more * 256;
    static constexpr std::array<std::size_t, 8> absurd = {
        SIZE_MAX,    SIZE_MAX / 3,     SIZE_MAX / 24,      SIZE_MAX / 4096,
        max_request, max_request / 12, max_request / 4096, std::size_t{1} << 40};
    return absurd[kind - 248];
  }

 private:
  const std::uint8_t* at_;
  const std::uint8_t* end_;
};

template <std::size_t Size, std::size_t Align>
struct alignas(Align) object {
  std::array<std::byte, Size> bytes;
};

template <class T, heap Heap>
class command_program {
  using allocator = v2_allocator<T, Heap>;
  using chain_type = typename allocator::multiallocation_chain;

  struct held {
    std::byte* data;
    std::size_t least, size;  // bytes: to be given back with any between
    std::size_t align;
    std::uint8_t seed;
    bool is_array;  // of objects, of the allocator; else of the heap
  };

 public:
  command_program(Heap& heap, tape& input) : heap_(heap), objects_(heap), input_(input) {}

  void run() {
    while (!input_.empty()) {
      step();
      demand(!heap_.validate(), "the heap is not sound");
    }
    while (!held_.empty()) end(held_.size() - 1);
    demand(heap_.usage().granted == 0, "nothing lives, and bytes are granted");
    static_cast<void>(heap_.trim(0));
    demand(!heap_.validate(), "the heap is not sound in the end");
  }

 private:
  static constexpr std::size_t most_held = 48;

  void step() {
    switch (input_.below(16)) {
      case 0:
      case 1:
        return allocate();
      case 2:
        if (!held_.empty()) end(input_.below(held_.size()));
        return;
      case 3:
      case 4:
      case 5:
      case 6:
      case 7:
      case 8:
        return command();
      case 9:
        return burst_of_nodes();
      case 10:
        return burst_of_one_length();
      case 11:
        return burst_of_lengths();
      case 12:
        return end_burst();
      case 13:
        return allocate_aligned();
      case 14:
        return resize_by_bytes();
      default:
        return act_on_the_heap();
    }
  }

  void allocate() {
    const std::size_t count = input_.count();
    try {
      const auto received = objects_.allocate_at_least(count);
      demand(received.count >= count, "received less than was asked for");
      enter(received.ptr, bytes(count), bytes(received.count));
    } catch (const std::bad_alloc&) {  // exhausted
    }
  }

  // --- commands -----------------------------------------------------------------------------------

  void command() {
    const auto flags = static_cast<allocation_type>(input_.next() & 0x5F);
    const bool shrinks = (flags & (commands::shrink_in_place | commands::try_shrink_in_place)) != 0;
    const std::size_t which = input_.below(most_held);
    const bool has_block = which < held_.size() && held_[which].is_array;
    std::size_t limit = input_.count();
    std::size_t preferred = input_.count();
    if (shrinks ? preferred > limit : preferred < limit) std::swap(limit, preferred);
    if (has_block) expect_intact(held_[which]);
    T* reuse = has_block ? as_objects(held_[which]) : nullptr;
    const std::size_t before = has_block ? objects_.size(reuse) : 0;
    T* const asked = reuse;
    std::size_t size = preferred;
    T* now = nullptr;
    try {
      now = objects_.allocation_command(flags, limit, size, reuse);
      demand(now != nullptr ||
                 (flags & (commands::allocate_new | commands::nothrow_allocation)) != commands::allocate_new,
             "null where an exception was asked for");
    } catch (const std::bad_alloc&) {
      demand((flags & (commands::allocate_new | commands::nothrow_allocation)) == commands::allocate_new,
             "an exception where none was asked for");
    }
    if (now == nullptr) {
      demand(reuse == asked, "a command that failed has changed what to reuse");
      if (has_block) expect_intact(held_[which]);
    } else if (shrinks) {
      demand(has_block, "nothing was shrunk");
      demand(size >= std::min(preferred, before) && size <= before, "shrunk too far, or grown");
      demand(size <= limit || (flags & commands::try_shrink_in_place) != 0, "shrunk to more than the limit");
      shrunk(which, now, size);
    } else {
      demand(size >= limit, "grown to less than the limit");
      grown(which, asked, reuse, now, size, flags);
    }
  }

  void shrunk(std::size_t which, T* now, std::size_t size) {
    held left = held_[which];
    demand(now == as_objects(left), "a block was moved to shrink");
    left.size = std::min(left.size, bytes(size));
    expect_intact(left);
    change(which, left.data, bytes(size));
  }

  void grown(std::size_t which, const T* asked, const T* reuse, T* now, std::size_t size,
             allocation_type flags) {
    if (reuse == nullptr) {
      demand((flags & commands::allocate_new) != 0, "a new block that was not asked for");
      return enter(now, bytes(size), bytes(size));
    }
    held& b = held_[which];
    auto* const data = reinterpret_cast<std::byte*>(now);
    const std::size_t objects = b.size / sizeof(T) * sizeof(T);
    demand(reuse == asked && data <= b.data && data + bytes(size) >= b.data + objects,
           "grown, it is elsewhere");
    demand(data == b.data || (flags & commands::expand_bwd) != 0, "grown backward, and not asked to");
    demand(static_cast<std::size_t>(b.data - data) % sizeof(T) == 0, "moved by a part of an object");
    expect_intact(b);
    change(which, data, bytes(size));
  }

  // --- bursts -------------------------------------------------------------------------------------

  void burst_of_nodes() {
    chain_type nodes;
    const std::size_t count = input_.below(32);
    try {
      objects_.allocate_individual(count, nodes);
      demand(nodes.size() == count, "a burst of another length");
    } catch (const std::bad_alloc&) {
      demand(nodes.empty(), "a burst that failed has left blocks");
    }
    enter_all(nodes, [](std::size_t) { return std::size_t{1}; });
    if (input_.below(2) == 0) return;
    chain_type ended;
    for (std::size_t i = held_.size(); i-- > 0 && ended.size() < count;)
      if (held_[i].is_array && held_[i].least == bytes(1)) ended.push_front(as_objects(strike(i)));
    objects_.deallocate_individual(ended);
    demand(ended.empty(), "a chain that was ended has blocks");
  }

  void burst_of_one_length() {
    chain_type arrays;
    const std::size_t length = input_.count();
    const std::size_t count = input_.below(20);
    try {
      objects_.allocate_many(length, count, arrays);
      demand(arrays.size() == count, "a burst of another length");
    } catch (const std::bad_alloc&) {
      demand(arrays.empty(), "a burst that failed has left blocks");
    }
    enter_all(arrays, [length](std::size_t) { return length; });
  }

  void burst_of_lengths() {
    chain_type arrays;
    std::array<std::size_t, 20> lengths{};
    const std::size_t count = input_.below(lengths.size());
    for (std::size_t i = 0; i < count; ++i) lengths[i] = input_.count();
    try {
      objects_.allocate_many(lengths.data(), count, arrays);
      demand(arrays.size() == count, "a burst of another length");
    } catch (const std::bad_alloc&) {
      demand(arrays.empty(), "a burst that failed has left blocks");
    }
    enter_all(arrays, [&lengths](std::size_t i) { return lengths[i]; });
  }

  template <class Length>
  void enter_all(chain_type& blocks, Length length) {
    for (std::size_t i = 0; !blocks.empty(); ++i) {
      T* const p = blocks.pop_front();
      enter(p, bytes(length(i)), bytes(length(i)));
    }
  }

  // Blocks of any lengths, however they came.
  void end_burst() {
    chain_type ended;
    for (std::size_t count = input_.below(32); count > 0 && !held_.empty(); --count) {
      const std::size_t which = input_.below(held_.size());
      if (held_[which].is_array) ended.push_back(as_objects(strike(which)));
    }
    objects_.deallocate_many(ended);
    demand(ended.empty(), "a chain that was ended has blocks");
  }

  // --- the heap itself ----------------------------------------------------------------------------

  void allocate_aligned() {
    const std::size_t align = std::size_t{1} << input_.below(13);
    const std::size_t size = input_.count();
    const block b = heap_.allocate(size, align);
    if (b) enter({static_cast<std::byte*>(b.data), size, b.size, align, 0, false});
  }

  void resize_by_bytes() {
    if (held_.empty()) return;
    const std::size_t which = input_.below(held_.size());
    const held old = held_[which];
    const std::size_t step = old.align * (1 + input_.below(8));
    const std::size_t limit = std::min(old.size, max_request) + input_.next();
    const auto ways = static_cast<resize_way>(2 + 2 * input_.below(3));  // in place
    const std::size_t known = input_.below(2) == 0 ? old.least : unknown_size;
    const resize_result r =
        heap_.resize({old.data, known, old.align, limit, limit + input_.next(), ways, step});
    expect_intact(old);
    if (!r.memory) return;
    auto* const data = static_cast<std::byte*>(r.memory.data);
    demand(r.reused && data <= old.data && data + r.memory.size >= old.data + old.size,
           "resized to another place");
    demand(static_cast<std::size_t>(old.data - data) % step == 0, "moved by a part of a step");
    held_[which].is_array = false;
    change(which, data, r.memory.size);
    held_[which].least = limit;
  }

  void act_on_the_heap() {
    switch (input_.below(8)) {
      case 0:
        heap_.clear();
        return held_.clear(), spans_.clear();
      case 1:
        heap_.release();
        return held_.clear(), spans_.clear();
      case 2:
        if constexpr (thread_caching<Heap>) return heap_.flush();
        return;
      default:
        static_cast<void>(heap_.trim(input_.next() * 512));
        for (const held& b : held_) expect_intact(b);
    }
  }

  // --- the shadow ---------------------------------------------------------------------------------

  [[nodiscard]] static std::size_t bytes(std::size_t objects) {
    return std::max(objects * sizeof(T), sizeof(void*));
  }
  static T* as_objects(const held& b) { return reinterpret_cast<T*>(b.data); }

  void enter(T* p, std::size_t least, std::size_t size) {
    demand(objects_.size(p) * sizeof(T) + sizeof(T) > size, "it knows less of a block than it gave");
    enter({reinterpret_cast<std::byte*>(p), least, size, std::max(alignof(T), alignof(void*)), 0, true});
  }

  void enter(held b) {
    place(b);
    held_.push_back(b);
    if (held_.size() > most_held) end(0);
  }

  // Registers where a block lies, and fills it.
  void place(held& b) {
    demand(is_aligned(b.data, b.align), "a block is misaligned");
    demand(heap_.owns(b.data) && heap_.owns(b.data + b.size - 1), "a block lies outside the heap");
    const auto [place, is_new] = spans_.emplace(b.data, b.data + b.size);
    demand(is_new && (std::next(place) == spans_.end() || place->second <= std::next(place)->first) &&
               (place == spans_.begin() || std::prev(place)->second <= b.data),
           "a block overlaps another one");
    b.seed = ++seeds_;
    std::memset(b.data, b.seed, b.size);
  }

  void change(std::size_t which, std::byte* data, std::size_t size) {
    held& b = held_[which];
    spans_.erase(b.data);
    b.data = data;
    b.least = b.size = size;
    place(b);
  }

  static void expect_intact(const held& b) {
    demand(*b.data == std::byte{b.seed} && std::memcmp(b.data, b.data + 1, b.size - 1) == 0,
           "a block is damaged");
  }

  // Forgets a block, which somebody ends.
  held strike(std::size_t which) {
    const held b = held_[which];
    expect_intact(b);
    spans_.erase(b.data);
    held_[which] = held_.back();
    held_.pop_back();
    return b;
  }

  void end(std::size_t which) {
    const held b = strike(which);
    if (b.is_array)
      objects_.deallocate(as_objects(b), (b.seed % 2 == 0 ? b.least : b.size) / sizeof(T));
    else if (b.seed % 2 == 0)
      heap_.deallocate(b.data, b.seed % 4 == 0 ? b.least : b.size, b.align);
    else
      heap_.deallocate(static_cast<void*>(b.data));
  }

  Heap& heap_;
  allocator objects_;
  tape& input_;
  std::vector<held> held_;
  std::map<std::byte*, std::byte*> spans_;
  std::uint8_t seeds_ = 0;
};

// The first byte says which objects: the sizes of the seed's commands, and one that is aligned strictly.
template <heap Heap>
void run_commands(Heap& heap, tape& input) {
  switch (input.below(6)) {
    case 0:
      return command_program<object<1, 1>, Heap>(heap, input).run();
    case 1:
      return command_program<object<3, 1>, Heap>(heap, input).run();
    case 2:
      return command_program<object<12, 4>, Heap>(heap, input).run();
    case 3:
      return command_program<object<24, 8>, Heap>(heap, input).run();
    case 4:
      return command_program<object<4096, 16>, Heap>(heap, input).run();
    default:
      return command_program<object<192, 64>, Heap>(heap, input).run();
  }
}

}  // namespace mallard::fuzz
