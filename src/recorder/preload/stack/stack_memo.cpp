#include "recorder/preload/stack/stack_memo.hpp"

#include <atomic>

#include "recorder/preload/spool/raw_calls.hpp"
#include "recorder/preload/state/recorder_state.hpp"

namespace mallard::recorder {

bool stack_memo::prepare(context_tree& contexts) noexcept {
  const std::uint32_t generation = state.module_generation.load(std::memory_order_relaxed) + 1;
  if (generation_ == generation) return true;
  if (walks_ == nullptr) walks_ = static_cast<walk**>(map_pages(remembered * sizeof *walks_));
  if (differences_ == nullptr)
    differences_ = static_cast<difference*>(map_pages(remembered * sizeof *differences_));
  if (walks_ == nullptr || differences_ == nullptr) return false;
  clear();
  // Their numbers are not given again. The second half of them is for programs that unload all the time.
  const spool_header* const spool = current_spool();
  if (spool != nullptr && spool->contexts_used.load(std::memory_order_relaxed) < spool->options.contexts / 2)
    contexts.forget();
  generation_ = generation;
  return true;
}

// A walk with room for `capacity` words: 16 times a power of two. Null if there is no memory.
stack_memo::walk* stack_memo::make_walk(std::uint32_t capacity) noexcept {
  walk*& unused = unused_[__builtin_ctz(capacity / least_capacity)];
  if (walk* again = unused) {
    unused = again->next_unused;
    return again;
  }
  constexpr std::size_t at_once = std::size_t{64} * 1024;
  const std::size_t bytes = sizeof(walk) + capacity * sizeof(word_read);
  if (room_left_ < bytes) {
    room_ = static_cast<char*>(map_pages(at_once));
    room_left_ = room_ != nullptr ? at_once : 0;
  }
  if (room_left_ < bytes) return nullptr;
  auto* made = reinterpret_cast<walk*>(room_);
  made->capacity = capacity;
  room_ += bytes;
  room_left_ -= bytes;
  return made;
}

void stack_memo::recycle(walk* old) noexcept {
  walk*& unused = unused_[__builtin_ctz(old->capacity / least_capacity)];
  old->next_unused = unused;
  unused = old;
}

// If the walk at the index of this start has the same one and does not hold, it is to have another index.
void stack_memo::tell_apart(const walk_start& start, const stack_range& stack) noexcept {
  const walk* known = walks_[index_of(start)];
  if (known == nullptr || known->start.return_address != start.return_address ||
      known->start.sp != start.sp || known->stack_end != stack.end)
    return;
  const word_read* each = known->words();
  while (each != known->end && word_at(each->address) == each->value) ++each;
  if (each == known->end || !is_on_the_page_of(start, each->address)) return;
  difference& noted = differences_[place_of(hash(start))];
  if (noted.addresses[0] == 0)
    noted.addresses[0] = each->address;
  else
    noted.addresses[1] = each->address;
}

// The memo of the walk with this index, with no more room than is needed; it holds for no start.
stack_memo::walk* stack_memo::room_for(std::size_t index, std::uint32_t words) noexcept {
  std::uint32_t capacity = least_capacity;
  while (capacity < words) capacity *= 2;
  walk*& place = walks_[index];
  if (place != nullptr && place->capacity != capacity) {
    recycle(place);
    place = nullptr;
  }
  if (place == nullptr) place = make_walk(capacity);
  if (place == nullptr) return nullptr;
  place->start.return_address = 0;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  return place;
}

// Remembers the last stack, if it has few words, in place of the previous one with the same index.
void stack_memo::remember(const walk_start& start, const stack_range& stack, std::uint32_t context) noexcept {
  const std::uint32_t inner = last_.depth() - 1;  // whose return address is the start's
  const std::uint32_t words = inner + last_.other_words();
  if (words > most_capacity) return;
  tell_apart(start, stack);
  walk* place = room_for(index_of(start), words);
  if (place == nullptr) return;
  auto* to = reinterpret_cast<word_read*>(place + 1);
  for (std::uint32_t i = inner; i-- > 0;) *to++ = {last_.frames()[i].slot, last_.frames()[i].return_address};
  for (std::uint32_t i = last_.other_words(); i-- > 0;) *to++ = last_.others()[i];
  place->end = to;
  place->stack_end = stack.end;
  place->context = context;
  place->bp_matters = last_.frames()[inner].bp_matters;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  place->start = start;
}

// Makes the last stack that from `start` outwards. A stack that is missing for lack of memory is counted.
bool stack_memo::take(context_tree& contexts, spool_header* spool, const walk_start& start,
                      const stack_range& stack) noexcept {
  if (prepare(contexts) && last_.walk(start, stack)) return true;
  if (spool != nullptr) spool->contexts_wanting.fetch_add(1, std::memory_order_relaxed);
  return false;
}

MALLARD_NOINLINE std::uint32_t stack_memo::walk_anew(context_tree& contexts, walk_start start,
                                                     const stack_range& stack) noexcept {
  spool_header* spool = current_spool();
  if (!take(contexts, spool, start, stack) || spool == nullptr) return 0;
  const std::uint32_t context = last_.context(contexts, spool, state.depth);
  if (last_.has_all_words()) remember(start, stack, context);
  return context;
}

MALLARD_NOINLINE std::uint32_t stack_memo::context_in(const open_scopes& scopes, context_tree& contexts,
                                                      const walk_start& start,
                                                      const stack_range& stack) noexcept {
  if (scopes.count == 0) return context_of(contexts, start, stack);
  spool_header* spool = current_spool();
  if (!take(contexts, spool, start, stack) || spool == nullptr) return 0;
  return last_.context_in(scopes, contexts, spool, state.depth);
}

void stack_memo::clear() noexcept {
  for (std::size_t i = 0; walks_ != nullptr && i < remembered; ++i) {
    if (walks_[i] != nullptr) recycle(walks_[i]);
    walks_[i] = nullptr;
  }
  last_.clear();
}

}  // namespace mallard::recorder
