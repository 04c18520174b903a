// meter: the memory that an allocator takes, from where its work begins.
//
//     meter made | first life of the heap | first_is_over() | ... | write(page)
//                        page faults                                most bytes resident
//
// Made after all that the benchmark itself needs; it maps the program's code in, so that what is added is the
// allocator's.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/page.hpp"
#include "harness/memory_meter.hpp"

namespace mallard::bench {

class meter {
 public:
  meter() {
    harness::map_in_code();
    harness::reset_peak();
    resident_ = harness::peak_resident();
    faults_ = harness::page_faults();
  }

  void first_is_over() { faults_ = harness::page_faults() - faults_; }

  // Precondition: the first life is over.
  void write(page& into) const {
    const std::size_t peak = harness::peak_resident();
    into.max_held = peak > resident_ ? peak - resident_ : 0;
    into.page_faults = faults_;
  }

 private:
  std::size_t resident_;
  std::uint64_t faults_;
};

}  // namespace mallard::bench
