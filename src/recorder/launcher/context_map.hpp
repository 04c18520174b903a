// context_map: from the address a call returns to, to its context in the journal.
//
// The table of the journal's writer knows every context of every depth; this one remembers the depth
// the recorder has, the caller, in open addressing without a system of nodes. Amortised O(1), a few ns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "journal/writer.hpp"
#include "recorder/launcher/module_table.hpp"

namespace mallard::recorder {

class context_map {
 public:
  // Tells `modules` every caller it meets.
  context_map(journal::writer& out, module_table& modules) : out_(&out), modules_(&modules), slots_(1024) {}

  // The context of calls that return to `caller`; 0 for address 0, which stands for unknown.
  [[nodiscard]] std::uint32_t context_of(std::uint64_t caller) {
    if (caller == 0) return 0;
    slot& found = find(caller);
    if (found.caller == caller) return found.context;
    const std::uint32_t context = out_->intern_context(0, caller);
    modules_->note_caller(caller);
    found = {caller, context};
    if (++used_ * 2 > slots_.size()) grow();
    return context;
  }

 private:
  struct slot {
    std::uint64_t caller = 0;  // 0: free
    std::uint32_t context = 0;
  };

  // The slot of `caller`, or the free one it belongs into. At least half of the slots are free.
  [[nodiscard]] slot& find(std::uint64_t caller) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = static_cast<std::size_t>((caller * 0x9e3779b97f4a7c15u) >> 20) & mask;
    while (slots_[at].caller != 0 && slots_[at].caller != caller) at = (at + 1) & mask;
    return slots_[at];
  }

  void grow() {
    std::vector<slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const slot& s : old)
      if (s.caller != 0) find(s.caller) = s;
  }

  journal::writer* out_;
  module_table* modules_;
  std::vector<slot> slots_;
  std::size_t used_ = 0;
};

}  // namespace mallard::recorder
