#include "replay/run/thread_pass.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace mallard::replay {

thread_room::thread_room(const trace& t, std::uint64_t n)
    : trace_(t),
      copy_(n),
      lanes_(t),
      slots_(t.facts().slots * sizeof(void*), harness::fill::before_use),
      seen_(t.facts().threads_at_once * t.facts().threads_at_once * sizeof(std::uint32_t),
            harness::fill::at_first_touch),
      stacks_((t.facts().threads_at_once + 2) * stack_bytes, harness::fill::at_first_touch),
      member_memory_(t.threads().size() * sizeof(member), harness::fill::before_use),
      by_end_memory_(t.threads().size() * sizeof(member*), harness::fill::before_use) {
  auto* const members = static_cast<member*>(member_memory_.data());
  std::uninitialized_value_construct_n(members, t.threads().size());
  members_ = {members, t.threads().size()};
  auto* const by_end = static_cast<member**>(by_end_memory_.data());
  for (std::size_t i = 0; i != members_.size(); ++i) {
    members_[i].room = this;
    members_[i].part = &t.threads()[i];
    by_end[i] = &members_[i];
  }
  by_end_ = {by_end, t.threads().size()};
  std::ranges::sort(by_end_, {}, [](const member* m) { return m->part->end; });
  prepare_stacks();
}

// As much of each is mapped in as passes use, so that they add nothing to what is resident. Below each is a
// page that nobody may touch: a strategy that needs more stack ends there, not in another thread's.
void thread_room::prepare_stacks() const noexcept {
  auto* const stacks = static_cast<std::byte*>(stacks_.data());
  const auto guard = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  for (std::size_t end = stack_bytes; end <= stacks_.size(); end += stack_bytes) {
    (void)::mprotect(stacks + end - stack_bytes, guard, PROT_NONE);
    std::memset(stacks + end - used_stack_bytes, 0, used_stack_bytes);
  }
}

thread_rooms::thread_rooms(const trace& t, std::size_t copies)
    : memory_(copies * sizeof(thread_room), harness::fill::before_use) {
  metered_wait::measure_cost();
  auto* const first = static_cast<thread_room*>(memory_.data());
  for (std::size_t n = 0; n != copies; ++n) {
    std::construct_at(first + n, t, n);
    rooms_ = {first, n + 1};
  }
}

thread_rooms::~thread_rooms() { std::ranges::destroy(rooms_); }

void thread_room::restart() noexcept {
  lanes_.restart();
  std::memset(seen_.data(), 0, seen_.size());
}

bool thread_room::has_main() const noexcept {
  const thread_part& last = *members_.back().part;
  const thread_part& first = *members_.front().part;
  return first.begin == 0 && first.end == trace_.steps()[last.first_step + last.steps].order;
}

bool thread_room::start(pthread_t& id, std::size_t stack, void* (*run)(void*), void* argument) noexcept {
  pthread_attr_t how{};
  if (::pthread_attr_init(&how) != 0) return false;
  const bool begun =
      ::pthread_attr_setstack(&how, static_cast<std::byte*>(stacks_.data()) + stack * stack_bytes,
                              stack_bytes) == 0 &&
      ::pthread_create(&id, &how, run, argument) == 0;
  ::pthread_attr_destroy(&how);
  return begun;
}

bool thread_room::start(member& m, void* (*run)(void*)) noexcept {
  return start(m.id, m.part->lane + std::size_t{2}, run, &m);
}

bool thread_room::start_conductor(void* (*run)(void*)) noexcept { return start(conductor_, 0, run, this); }

bool thread_room::start_copy(void* (*run)(void*)) noexcept { return start(own_, 1, run, this); }

}  // namespace mallard::replay
