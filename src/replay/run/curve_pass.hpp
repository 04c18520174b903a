// curve_pass: a pass over what the program did that draws what an allocator holds.
//
//     counts at its source     op, op, op ...  what it holds after each is asked; the highest mark in between
//     a malloc                 stop ... stop   resident memory at each, its peak in between by the kernel
//
// Granted bytes are walked for at the stops, where it tells its usage. A walk, of a heap or of the page
// tables, takes longer the more is held: all walks of a pass share a budget of CPU time and are left out
// where they exceed it, but for those at the moment of most live bytes and at the end. A malloc's stretch
// then goes on to the next stop. The chunk cache keeps what it has meanwhile, so that a curve does not depend
// on its own speed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "mallard/core/usage.hpp"
#include "mallard/source/default_source.hpp"
#include "replay/run/held_curve.hpp"
#include "replay/run/pass.hpp"
#include "replay/run/region_pass.hpp"
#include "replay/trace/trace.hpp"

namespace mallard::replay {

// curve_plan: where a curve over a trace has its points, before any allocator has run.
//
//     ops      |------------|------------|------------|     499 stretches of as many operations each
//     stops          !      !         !  !  !         !     where most is live in each, and its end
//
// The moment of most live bytes of the whole trace is among them. Where there are few enough operations, each
// is a stop. The ends that the program left out are not part of it. Made by one walk; afterwards a stop knows
// what is live there, so that a pass that is measured from outside has nothing to count. O(ops).
struct curve_stop {
  std::size_t op = 0;            // index behind the last one of the stretch
  std::uint64_t event = 0;       // operations up to there
  std::uint64_t live = 0;        // bytes there
  std::uint64_t regions = 0;     // alive there
  double inverse_live = 0;       // sum of 1/live after each operation since the stop before
  std::uint64_t operations = 0;  // how many these are: those after which something is live
};

class curve_plan {
 public:
  explicit curve_plan(const trace& t);

  [[nodiscard]] std::span<const curve_stop> stops() const noexcept { return std::span(stops_).first(count_); }

  // The index of the stop where most is live, the first of them.
  [[nodiscard]] std::size_t fullest() const noexcept { return fullest_; }

 private:
  std::array<curve_stop, curve_recorder::most_stretches> stops_;
  std::size_t count_ = 0;
  std::size_t fullest_ = 0;
};

// Keeps the chunk cache of the process from giving back what nobody has asked for, for as long as it lives.
class kept_chunks {
 public:
  kept_chunks() noexcept : usual_(process_chunks().keep_time()) {
    process_chunks().set_keep_time(~std::uint64_t{0});
  }
  ~kept_chunks() { process_chunks().set_keep_time(usual_); }
  kept_chunks(const kept_chunks&) = delete;
  kept_chunks& operator=(const kept_chunks&) = delete;

 private:
  std::uint64_t usual_;
};

// What an allocator of blocks or regions says of the memory that it holds, behind pointers. The allocator
// must outlive it.
class held_calls {
 public:
  template <class C>
    requires block_allocator<C> || region_allocator<C>
  held_calls(const C& c) noexcept : c_(&c) {
    if constexpr (counts_held<C>) {
      held_ = [](const void* p) -> std::size_t { return static_cast<const C*>(p)->held(); };
      max_held_ = [](const void* p) -> std::size_t { return static_cast<const C*>(p)->max_held(); };
    }
    if constexpr (replay::tells_usage<C>)
      usage_ = [](const void* p) { return static_cast<const C*>(p)->usage(); };
    if constexpr (keeps_regions<C>) region_bytes_ = C::region_bytes;
  }

  template <class C>
    requires block_allocator<C> || region_allocator<C>
  held_calls(const C&&) = delete;

  // Whether it counts at its source; else the kernel is to be asked.
  [[nodiscard]] bool counts() const noexcept { return held_ != nullptr; }
  [[nodiscard]] bool tells_usage() const noexcept { return usage_ != nullptr; }

  // Preconditions: counts(); of usage(), tells_usage().
  [[nodiscard]] std::size_t held() const { return held_(c_); }
  [[nodiscard]] std::size_t max_held() const { return max_held_(c_); }
  [[nodiscard]] heap_usage usage() const { return usage_(c_); }

  // What the objects of a program's regions take beside it.
  [[nodiscard]] std::uint64_t bytes_of(std::uint64_t regions) const noexcept {
    return regions * region_bytes_;
  }

 private:
  const void* c_;
  std::size_t (*held_)(const void*) = nullptr;
  std::size_t (*max_held_)(const void*) = nullptr;
  heap_usage (*usage_)(const void*) = nullptr;
  std::uint64_t region_bytes_ = 0;
};

// Performs ops [from, to), every byte written; false: one could not be served.
using span_replay = std::function<bool(std::size_t from, std::size_t to)>;

// CPU time of all walks of a pass.
inline constexpr std::uint64_t usual_walk_ns = 2'000'000'000;

// held_before: bytes that the allocator holds beforehand, as litter. Where there are any, it is unknown which
// of the granted bytes are the trace's. False where `replay` was.
[[nodiscard]] bool curve_pass(held_calls c, const trace& t, std::uint64_t held_before,
                              const span_replay& replay, held_curve& into,
                              std::uint64_t walk_ns = usual_walk_ns);

}  // namespace mallard::replay
