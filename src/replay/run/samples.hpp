// samples: how many warm passes to run, and their median.
//
// A sample is a batch of passes that lasts about a millisecond, so that a tiny journal is not
// measured by the cost of reading the clock. Enough is reached with 3 samples and the CPU time asked
// for, or when the fixed room is full: nothing here allocates.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace mallard::replay {

class samples {
 public:
  explicit samples(std::uint64_t least_ns) : least_ns_(least_ns) {}

  [[nodiscard]] bool enough() const {
    return count_ == figures_.size() || (count_ >= 3 && total_ns_ >= least_ns_);
  }

  [[nodiscard]] std::uint64_t passes_a_sample() const { return batch_; }

  // CPU time of one batch. Batches too short to time grow until they are not, and start over.
  void add(std::uint64_t ns) {
    total_ns_ += ns;
    passes_ += batch_;
    if (ns < batch_ns / 2 && batch_ < most_batch) {
      batch_ = std::min(most_batch, batch_ * std::max<std::uint64_t>(2, batch_ns / (ns + 1)));
      count_ = 0;
      return;
    }
    figures_[count_++] = static_cast<double>(ns) / static_cast<double>(batch_);
  }

  // CPU ns of one pass; precondition: enough().
  [[nodiscard]] double median() {
    double* const middle = figures_.data() + count_ / 2;
    std::nth_element(figures_.data(), middle, figures_.data() + count_);
    return *middle;
  }

  [[nodiscard]] std::uint64_t passes() const { return passes_; }

 private:
  static constexpr std::uint64_t batch_ns = 1'000'000;
  static constexpr std::uint64_t most_batch = 1 << 16;

  std::uint64_t least_ns_;
  std::uint64_t total_ns_ = 0;
  std::uint64_t batch_ = 1;
  std::uint64_t passes_ = 0;
  std::array<double, 512> figures_{};
  std::size_t count_ = 0;
};

}  // namespace mallard::replay
