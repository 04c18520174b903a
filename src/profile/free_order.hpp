// free_order: in what order the objects of each group are freed.
//
//     group --youngest--> slot 7 <-> slot 2 <-> slot 9       by age, through the slots themselves
//
// A free ends an object in one of these ways; the first that fits, from top to bottom.
//     together      in a run of at least 8 frees, with no allocation in the group between, after which
//     nothing
//                   of the group was left
//     lifo          the youngest of at least two live objects of the group
//     one_by_one    any other
// Whether a run was `together` shows when it ends: its frees are counted apart until then.
//
// A reallocation within a group neither breaks a run nor extends it, and the new object takes the old one's
// place. One that leads into another group is an allocation there; in the old group its object has left,
// which may leave nothing, but is no free of the run either.
//
// Cost: a few loads and stores a step; 8 bytes a slot, 40 a group.
#pragma once

#include <cstdint>
#include <vector>

namespace mallard::profile {

inline constexpr std::uint64_t shortest_run_together = 8;

class free_order {
 public:
  struct counts {
    std::uint64_t together = 0;
    std::uint64_t lifo = 0;
    std::uint64_t one_by_one = 0;
  };

  explicit free_order(std::uint32_t groups) : groups_(groups) {}

  // The object of `slot` begins in `group`.
  void allocated(std::uint32_t group, std::uint32_t slot) {
    state& in = groups_[group];
    close_run(in);
    if (slot >= links_.size()) links_.resize(slot + std::size_t{1});
    links_[slot] = {.older = in.youngest, .younger = none};
    if (in.youngest != none) links_[in.youngest].younger = slot;
    in.youngest = slot;
    ++in.live;
  }

  // It ends by a free.
  void freed(std::uint32_t group, std::uint32_t slot) {
    state& in = groups_[group];
    if (in.youngest == slot && in.live > 1)
      ++in.run_lifo;
    else
      ++in.run_one_by_one;
    left(group, slot);
  }

  // It is not in the group any longer, without having been freed.
  void left(std::uint32_t group, std::uint32_t slot) {
    state& in = groups_[group];
    const link gone = links_[slot];
    if (gone.younger == none)
      in.youngest = gone.older;
    else
      links_[gone.younger].older = gone.older;
    if (gone.older != none) links_[gone.older].younger = gone.younger;
    if (--in.live == 0) close_run(in);
  }

  // The object of slot `to` takes the place of that of slot `from`.
  void replaced(std::uint32_t group, std::uint32_t from, std::uint32_t to) {
    if (from == to) return;
    if (to >= links_.size()) links_.resize(to + std::size_t{1});
    const link place = links_[from];
    links_[to] = place;
    if (place.younger == none)
      groups_[group].youngest = to;
    else
      links_[place.younger].older = to;
    if (place.older != none) links_[place.older].younger = to;
  }

  [[nodiscard]] std::uint64_t live(std::uint32_t group) const noexcept { return groups_[group].live; }

  // All frees so far. Those of a run that has not emptied its group count as what they are by themselves.
  [[nodiscard]] counts frees(std::uint32_t group) const noexcept {
    const state& in = groups_[group];
    return {.together = in.closed.together,
            .lifo = in.closed.lifo + in.run_lifo,
            .one_by_one = in.closed.one_by_one + in.run_one_by_one};
  }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;

  struct link {
    std::uint32_t older = none;
    std::uint32_t younger = none;
  };

  struct state {
    counts closed{};
    std::uint32_t youngest = none;
    std::uint32_t live = 0;
    std::uint32_t run_lifo = 0;  // of the frees since the last allocation
    std::uint32_t run_one_by_one = 0;
  };

  // No more frees belong to the run: the group is empty, or has an allocation.
  static void close_run(state& in) noexcept {
    const std::uint64_t run = std::uint64_t{in.run_lifo} + in.run_one_by_one;
    if (run == 0) return;
    if (in.live == 0 && run >= shortest_run_together) {
      in.closed.together += run;
    } else {
      in.closed.lifo += in.run_lifo;
      in.closed.one_by_one += in.run_one_by_one;
    }
    in.run_lifo = 0;
    in.run_one_by_one = 0;
  }

  std::vector<state> groups_;
  std::vector<link> links_;  // by slot
};

}  // namespace mallard::profile
