// context_totals: what each calling context has allocated, left, and had alive at the program's peak.
//
//     live bytes      _/\_      ___/\ <- peak: the first moment of most live bytes
//     of context 3     |    ...   5    what it has alive there is kept when the context next changes:
//     peak number      1    ...   2    most contexts do not change between two peaks, and cost nothing
//
// Only objects of the malloc family count, but for `first_time`. Cost: some ns an event, 104 bytes a context.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "profile/watcher.hpp"

namespace mallard::profile {

struct context_figures {
  std::uint64_t allocations = 0;
  std::uint64_t bytes = 0;       // requested, all allocations together
  std::uint64_t peak_bytes = 0;  // alive when the whole program first had its most live bytes
  std::uint64_t peak_objects = 0;
  std::uint64_t leaked_bytes = 0;  // alive at the end of the journal
  std::uint64_t leaked_objects = 0;
  std::uint64_t temporaries = 0;          // freed (not reallocated) before their thread's next allocation
  std::uint64_t size_classes = 0;         // bit n: an object of class n
  std::uint64_t first_time = UINT64_MAX;  // ns, of its first allocation or free, in regions too
  journal::event_kind kind = journal::event_kind::none;  // of its latest allocation
};

class context_totals final : public watcher {
 public:
  void allocated(std::uint32_t /*slot*/, const object& o) override {
    row& in = at(o.context);
    in.found.first_time = std::min(in.found.first_time, o.allocation_time);
    if (o.region != 0) return;
    before_change(in);
    ++in.found.allocations;
    in.found.bytes += o.size;
    in.found.size_classes |= std::uint64_t{1} << size_class(o.size);
    in.found.kind = o.kind;
    in.live_bytes += o.size;
    ++in.live_objects;
    live_bytes_ += o.size;
    if (live_bytes_ <= peak_bytes_) return;
    peak_bytes_ = live_bytes_;
    ++peak_;
  }

  void freed(std::uint32_t /*slot*/, const object& o) override {
    row& by = at(o.free_context);
    by.found.first_time = std::min(by.found.first_time, o.free_time);
    if (o.region != 0) return;
    row& in = at(o.context);
    before_change(in);
    if (o.between == 0 && !journal::is_reallocation(o.free_kind)) ++in.found.temporaries;
    in.live_bytes -= o.size;
    --in.live_objects;
    live_bytes_ -= o.size;
  }

  void leaked(std::uint32_t /*slot*/, const object& o) override {
    if (o.region != 0) return;
    row& in = at(o.context);
    in.found.leaked_bytes += o.size;
    ++in.found.leaked_objects;
  }

  // Of contexts 0 .. count - 1; what has happened so far.
  [[nodiscard]] std::vector<context_figures> figures(std::size_t count) const {
    std::vector<context_figures> all(count);
    for (std::size_t context = 0; context < std::min(count, rows_.size()); ++context) {
      row one = rows_[context];
      before_change(one);
      all[context] = one.found;
    }
    return all;
  }

 private:
  struct row {
    context_figures found;
    std::uint64_t live_bytes = 0;
    std::uint64_t live_objects = 0;
    std::uint64_t peak = 0;  // number of the one that found.peak_* are of
  };

  row& at(std::uint32_t context) {
    if (context >= rows_.size()) rows_.resize(std::size_t{context} + 1);
    return rows_[context];
  }

  // What is alive in it has not changed since the latest peak, if that is not kept yet.
  void before_change(row& in) const {
    if (in.peak == peak_) return;
    in.peak = peak_;
    in.found.peak_bytes = in.live_bytes;
    in.found.peak_objects = in.live_objects;
  }

  std::vector<row> rows_;  // by context
  std::uint64_t live_bytes_ = 0;
  std::uint64_t peak_bytes_ = 0;
  std::uint64_t peak_ = 0;  // how often the most live bytes have risen
};

}  // namespace mallard::profile
