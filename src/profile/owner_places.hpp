// owner_places: where the callers of each group keep a word that names the owner of a block, say its
// container.
//
//     allocations of two lists in turn      frees, in their order
//       rbx rbp r12
//        7   A   x                          word in rbx     7 7 7 7 7 7 7 7     says nothing
//        7   B   y                          word in rbp     A A A A B B B B     names the owner
//        7   A   z                          word in r12     x z u w y v s t     names a block each
//
// An owner frees its blocks together. So a word names the owners if consecutive frees of a group have it in
// common far more often than chance, and than consecutive allocations, would have it: `gain`. Where the frees
// follow the order of the allocations, that order explains them and nothing is gained. A word must have at
// least two values, and eight blocks a value; a group has at least 64 blocks, for a few share words by luck.
//
// Where most frees are of single blocks and only the end of an owner frees many, the gain is small however
// clear that end is. So each owner is tested by itself: `told` is the share of the blocks whose owner has
// once freed more in a row than chance would in one of a thousand owners, and more than it has ever allocated
// in a row.
//
// Groups that have the same owners are known by the least hashes of their words: `sketch`.
//
// Only blocks take part that have a snapshot and that a free has ended. Consecutive means: among these, by
// one thread. A recording takes snapshots of whole windows of consecutive allocations (docs/recording.md), so
// the allocations are next to each other, while frees in between may be of other blocks: that understates a
// gain.
//
//     allocations   [ A B A C B ]  - - -  [ D E D F ]  - - -     seen: 6 owners, each in one window; so there
//                     window                window               must be others, which none has seen
//
// Short windows, with fewer than an eighth of the snapshots of their thread's longest one, do not take part:
// they show a few blocks of each owner, too few to say how it frees them.
//
// Owners that live between the windows are never seen. How many there are in all is Chao's estimate of
// species: d + (m - 1) / m * q1 (q1 - 1) / (2 (q2 + 1)) for d values seen in m windows, q1 of them in one
// window and q2 in two; but no more owners a block than were seen. Where one window has all blocks of a
// group, it has seen all owners.
//
// Cost: the journal is read twice, once for the snapshots and once for the objects; 130 bytes a snapshot, and
// sorting 26 times the blocks of each group. Of a journal with more than `most_snapshots`, the first count.
// Words are compared by hashes of 32 bits.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace mallard::profile {

// Words of a snapshot, in the order of FORMAT.md's `wtns`: six registers, then the stack.
inline constexpr std::size_t snapshot_places = 26;

// How the place is called: "rbx" ... "r15", then "sp+0", "sp+8" ..., in bytes above the caller's stack
// pointer.
[[nodiscard]] std::string name_of_place(std::size_t place);

// Allocations in a row without a snapshot that end a window. A recording leaves out 64 Ki at least.
inline constexpr std::uint64_t window_gap = 1U << 14;

// Of one journal, so that they take at most 140 MB.
inline constexpr std::size_t most_snapshots = std::size_t{1} << 20;

struct owner_place {
  static constexpr std::uint64_t least_blocks = 64;  // of a group
  static constexpr std::uint64_t least_blocks_a_value = 8;
  static constexpr std::size_t sketch_size = 64;
  static constexpr double luck = 0.001;    // how likely a run of frees is at most that tells an owner
  static constexpr double clearly = 0.02;  // more gain than that makes a place better than an earlier one

  std::uint32_t group = 0;
  std::uint32_t place = 0;     // below snapshot_places
  std::uint64_t blocks = 0;    // of the group that take part
  std::uint64_t distinct = 0;  // values there: the owners, where the place is right
  std::uint64_t owners = 0;    // estimated, with those that no snapshot saw; also of blocks never freed
  double together = 0;         // share of consecutive frees that have the word in common
  double in_order = 0;         // the same of consecutive allocations
  double chance = 0;           // that any two blocks have it in common
  double told = 0;             // share of the blocks whose owner has freed more in a row than chance would
  // The least hashes of the words of all blocks, in order; UINT32_MAX where there are no more. Of two groups,
  // the share of these that both have is about that of the owners that both have.
  std::array<std::uint32_t, sketch_size> sketch{};

  [[nodiscard]] double gain() const noexcept { return together - std::max(in_order, chance); }

  friend bool operator==(const owner_place&, const owner_place&) = default;
};

struct owner_places {
  std::uint64_t snapshots = 0;  // in the journal
  // Those that could name owners, by group; a group without any has none here. The first of a group is the
  // one to take: the earliest place that no other is clearly better than, for a compiler keeps copies of a
  // word further out. The others follow by falling gain, then the registers first.
  std::vector<owner_place> found{};
};

// Of the journal at `path`. Contexts have the groups that `group_of_context` says, and none where it says 0
// or ends; empty: each context is a group of its own. `progress` hears the share that is done now and then,
// and may throw. Throws journal::error.
[[nodiscard]] owner_places find_owner_places(
    const std::filesystem::path& path, std::span<const std::uint32_t> group_of_context = {},
    const std::function<void(double)>& progress = [](double) {});

// All snapshots of a journal, a row each.
struct snapshot_columns {
  std::vector<std::uint64_t> event{};  // numbers of the events that they belong to
  std::vector<std::uint64_t> words{};  // snapshot_places a row
};

[[nodiscard]] snapshot_columns read_snapshots(
    const std::filesystem::path& path, const std::function<void(double)>& progress = [](double) {});

}  // namespace mallard::profile
