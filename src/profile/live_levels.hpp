// live_levels: the most live bytes of each group in each of equal buckets of time.
//
//     level    __/''\__        ____
//              |    |  \______/   |                a bucket without an event carries the level over
//     buckets  | 5  | 5  | 2 | 4  |
//
// Bucket b of n begins at b / n of the whole time. Changes come in the order of the journal; one that is
// said to be before the latest bucket counts there.
//
// Cost: a comparison a change, and each bucket of each group once. None without buckets.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace mallard::profile {

class live_levels {
 public:
  // The last bucket ends at `end_time`, and takes all that is later.
  live_levels(std::uint32_t groups, std::uint64_t end_time, std::uint32_t buckets)
      : end_time_(end_time),
        buckets_(buckets),
        groups_(buckets == 0 ? 0 : groups),
        most_(std::size_t{groups} * buckets) {
    if (buckets != 0) next_begin_ = begin_of(1);
  }

  // From `time` on, `bytes` of the group are alive.
  void changed(std::uint32_t group, std::uint64_t time, std::uint64_t bytes) {
    if (buckets_ == 0) return;
    while (time >= next_begin_ && latest_ + 1 < buckets_) next_begin_ = begin_of(++latest_ + 1);
    carry(group, latest_);
    groups_[group].bytes = bytes;
    std::uint64_t& most = most_[std::size_t{group} * buckets_ + latest_];
    most = std::max(most, bytes);
  }

  // Nothing changes any more.
  void finish() {
    for (std::uint32_t group = 0; group < groups_.size(); ++group) carry(group, buckets_ - 1);
  }

  // [group * buckets + bucket]
  [[nodiscard]] const std::vector<std::uint64_t>& most() const noexcept { return most_; }

 private:
  struct state {
    std::uint64_t bytes = 0;
    std::uint32_t bucket = 0;  // up to which most_ is known
  };

  [[nodiscard]] std::uint64_t begin_of(std::uint32_t bucket) const noexcept {
    if (bucket >= buckets_) return UINT64_MAX;
    return end_time_ / buckets_ * bucket + (end_time_ % buckets_ * bucket + buckets_ - 1) / buckets_;
  }

  void carry(std::uint32_t group, std::uint32_t bucket) {
    state& in = groups_[group];
    const std::size_t row = std::size_t{group} * buckets_;
    while (in.bucket < bucket) most_[row + ++in.bucket] = in.bytes;
  }

  std::uint64_t end_time_;
  std::uint32_t buckets_;
  std::uint32_t latest_ = 0;
  std::uint64_t next_begin_ = 0;  // of the bucket behind the latest
  std::vector<state> groups_;
  std::vector<std::uint64_t> most_;
};

}  // namespace mallard::profile
