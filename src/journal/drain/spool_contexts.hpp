// spool_contexts: from a context's number in the spool to the one in the journal.
//
// The program gives each thread's ring contexts of its own, so several numbers can mean one context;
// the receiver (spool_reader.hpp) makes them one. One load for a number that was seen before. What the
// table says is not trusted: numbers out of range, and parents that do not come before their children,
// are the unknown context.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "journal/spool/spool.hpp"

namespace mallard::journal {

// The name at a context_entry's place; empty if there is none.
[[nodiscard]] inline std::string_view name_in(spool_header* spool, std::uint64_t place) noexcept {
  const std::uint64_t at = place & ~scope_bit;
  const std::size_t used = std::min<std::size_t>(spool->names_used.load(), name_bytes);
  if (at > used || used - at < sizeof(name_length) || at % alignof(name_length) != 0) return {};
  const char* name = names_of(spool) + at;
  const name_length length = *reinterpret_cast<const name_length*>(name);
  if (length > used - at - sizeof(name_length)) return {};
  return {name + sizeof(name_length), length};
}

class spool_contexts {
 public:
  // `room`: as many contexts as the spool has room for.
  spool_contexts(spool_header* spool, std::uint32_t room) noexcept : spool_(spool), room_(room) {}

  // `time` is that of an event with this context.
  template <class Receiver>
  [[nodiscard]] std::uint32_t context_of(std::uint32_t number, std::uint64_t time, Receiver& receiver) {
    if (number == 0) return 0;
    if (number < known_.size() && known_[number] != unseen) [[likely]]
      return known_[number];
    return see(number, time, receiver);
  }

 private:
  static constexpr std::uint32_t unseen = UINT32_MAX;

  template <class Receiver>
  std::uint32_t see(std::uint32_t number, std::uint64_t time, Receiver& receiver) {
    const std::uint32_t used = std::min(spool_->contexts_used.load(), room_);
    if (number >= used) return 0;
    if (known_.size() < used) known_.resize(used, unseen);
    known_[0] = 0;
    path_.clear();
    for (; known_[number] == unseen; number = path_.back().parent) {
      context_entry entry = contexts_of(spool_)[number];
      if (entry.parent >= number) entry.parent = 0;
      path_.push_back(entry);
      numbers_.push_back(number);
    }
    std::uint32_t context = known_[number];
    for (; !path_.empty(); path_.pop_back(), numbers_.pop_back()) {
      const context_entry& entry = path_.back();
      context = (entry.place & scope_bit) != 0
                    ? receiver.scope(context, name_in(spool_, entry.place))
                    : receiver.frame(context, entry.place,
                                     std::uint64_t{entry.stack_offset} * sizeof(std::uint64_t), time);
      known_[numbers_.back()] = context;
    }
    return context;
  }

  spool_header* spool_;
  std::uint32_t room_;
  std::vector<std::uint32_t> known_;  // by the spool's number
  std::vector<context_entry> path_;   // of a number being looked up, outwards
  std::vector<std::uint32_t> numbers_;
};

}  // namespace mallard::journal
