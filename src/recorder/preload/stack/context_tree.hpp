// context_tree: the calling contexts of one ring, as a tree in the spool that grows and never changes.
//
//     (parent, place) --hash--> slot [hash:32 | number:32] --> context_entry in the spool
//
// Each ring has a tree of its own, so that threads do not wait for each other; the launcher merges equal
// contexts of different rings. Entries stand in the spool before an event names them. The slots are private
// memory, doubled when half full. One probe, some ns, for a context that exists. The hash in a slot
// saves looking at the entries of others. Most frames have one caller only, and become known together with
// it: a context whose number follows on its parent's is found there and has no slot.
#pragma once

#include <cstddef>
#include <cstdint>

#include "journal/spool/spool.hpp"
#include "mallard/core/attributes.hpp"
#include "recorder/preload/spool/spool_mapping.hpp"

namespace mallard::recorder {

using namespace journal;

class context_tree {
 public:
  // The context of `place` inside `parent`, which is 0 or came from here; 0 if there is no room for it.
  // A new one keeps the distance to the parent's return address, in words of the stack; 0: unknown.
  [[nodiscard]] MALLARD_INLINE std::uint32_t child(spool_header* spool, std::uint32_t parent,
                                                   std::uint64_t place, std::uint32_t stack_offset) noexcept {
    if (may_follow(parent)) {
      if (parent + 1 == next_) return add(spool, parent, place, stack_offset);  // it has no children yet
      const context_entry& next = context_at(parent + 1);
      if (next.parent == parent && next.place == place) return parent + 1;
    }
    if (slots_ != nullptr) [[likely]] {
      const std::uint32_t wanted = hash(parent, place);
      for (std::size_t at = wanted & mask_; slots_[at] != 0; at = (at + 1) & mask_) {
        if (slots_[at] >> 32 != wanted) continue;
        const auto number = static_cast<std::uint32_t>(slots_[at]);
        const context_entry& entry = context_at(number);
        if (entry.place == place && entry.parent == parent) [[likely]]
          return number;
      }
    }
    return add(spool, parent, place, stack_offset);
  }

  // The context of the scope with this place inside `parent`, which it is itself if the place is 0.
  [[nodiscard]] std::uint32_t scope(spool_header* spool, std::uint32_t parent, std::uint64_t place) noexcept {
    return place != 0 ? child(spool, parent, place, 0) : parent;
  }

  // The context of a caller of which nothing outside is recorded; the recent ones are found without a probe.
  [[nodiscard]] MALLARD_INLINE std::uint32_t caller(spool_header* spool,
                                                    std::uint64_t return_address) noexcept {
    recent_caller& recent = recent_[(return_address ^ return_address >> 8) % callers];
    if (recent.return_address == return_address) [[likely]]
      return recent.context;
    const std::uint32_t context = child(spool, 0, return_address, 0);
    if (context != 0) recent = {return_address, context};  // there may be room for it later
    return context;
  }

  // Finds none of the contexts again: a module has gone, and another one may take its place.
  void forget() noexcept;

  // The same, and the next ones stand in another spool.
  void clear() noexcept;

 private:
  [[nodiscard]] MALLARD_INLINE static std::uint32_t hash(std::uint32_t parent, std::uint64_t place) noexcept {
    const std::uint64_t mixed = (place ^ std::uint64_t{parent} << 40) * 0x9e3779b97f4a7c15u + parent;
    return static_cast<std::uint32_t>((mixed ^ mixed >> 32) * 0xff51afd7ed558ccdu >> 32);
  }

  static constexpr std::uint32_t block = 64;  // contexts that a tree takes at once, the first from 1 on

  // Whether the next number is that of a context of this tree, so that its entry may be read.
  [[nodiscard]] MALLARD_INLINE static bool may_follow(std::uint32_t parent) noexcept {
    return parent % block != 0;
  }

  std::uint32_t add(spool_header* spool, std::uint32_t parent, std::uint64_t place,
                    std::uint32_t stack_offset) noexcept;
  bool number_next(spool_header* spool) noexcept;
  bool grow() noexcept;

  struct recent_caller {
    std::uint64_t return_address;
    std::uint32_t context;
  };
  static constexpr std::size_t callers = 256;

  std::uint64_t* slots_;  // 0: free
  std::size_t mask_;
  std::size_t used_;
  std::uint32_t next_;  // number of the next context, inside the block that this tree has taken
  std::uint32_t block_end_;
  recent_caller recent_[callers];
};

}  // namespace mallard::recorder
