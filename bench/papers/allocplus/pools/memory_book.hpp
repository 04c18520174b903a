// memory_book: what an allocator has of the operating system while all nodes are alive, when all are freed,
// and when it was told to give back what it can.
//
//     opened | full: all alive | freed: the first time | ... | empty: all freed, trimmed | write(page)
//
// Resident bytes are those of the page tables, exactly; all that the harness itself needs is mapped in
// before. An allocator's own figures are differences from the beginning, so that what the process had before
// counts for nobody. Cost: a walk over the page tables, each time; never within a timed part.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "allocplus/pools/beneath.hpp"
#include "common/page.hpp"
#include "harness/memory_meter.hpp"

namespace mallard::bench {

template <class Binding>
class memory_book {
 public:
  // Precondition: the code of the process is mapped in.
  explicit memory_book(Binding& of)
      : binding_(of), before_(of.figures()), resident_(harness::resident_exactly()) {}

  // All nodes are alive.
  void full() { full_ = more(); }

  // All nodes are freed for the first time.
  void freed() { freed_ = more(); }

  // All nodes are freed, `from` is the allocator that they came from.
  template <class Allocator>
  void empty(Allocator& from) {
    kept_ = more();
    figures_ = binding_.figures();
    binding_.trim(from);
    trimmed_ = more();
  }

  // `needed`: bytes of the nodes themselves.
  void write(page& p, std::uint64_t needed) const {
    const std::uint64_t in_use =
        figures_.in_use == not_counted ? not_counted : above(figures_.in_use, before_.in_use);
    p.counted = {needed, full_, freed_, kept_, trimmed_, in_use, figures_.cached};
  }

 private:
  static std::uint64_t above(std::uint64_t now, std::uint64_t before) {
    return now > before ? now - before : 0;
  }
  [[nodiscard]] std::uint64_t more() const { return above(harness::resident_exactly(), resident_); }

  Binding& binding_;
  heap_figures before_;
  std::uint64_t resident_;
  std::uint64_t full_ = 0;
  std::uint64_t freed_ = 0;
  std::uint64_t kept_ = 0;
  std::uint64_t trimmed_ = 0;
  heap_figures figures_ = untold;
};

}  // namespace mallard::bench
