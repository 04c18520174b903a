#include "profile/compactness_meter.hpp"

#include <algorithm>
#include <boost/sort/pdqsort/pdqsort.hpp>
#include <iterator>

namespace mallard::profile {
namespace {

// Counts the pieces (lines or pages) that hold blocks, which come by rising address.
class pieces {
 public:
  void add(std::uint64_t first, std::uint64_t last) noexcept {
    const std::uint64_t from = std::max(first, next_);
    if (last < from) return;
    count_ += last - from + 1;
    next_ = last + 1;
  }

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

 private:
  std::uint64_t next_ = 0;  // those before it are counted
  std::uint64_t count_ = 0;
};

struct group_walk {
  std::uint64_t live_bytes = 0;
  pieces lines{};
  pieces pages{};
};

}  // namespace

compactness_meter::compactness_meter(std::uint32_t groups, std::uint64_t events, std::uint32_t moments)
    : groups_(groups), events_(events), moments_(moments), next_(event_of(0)) {}

std::uint64_t compactness_meter::event_of(std::uint32_t moment) const noexcept {
  if (moment >= moments_) return UINT64_MAX;
  const std::uint64_t halves = std::uint64_t{2} * moments_;
  const std::uint64_t at = std::uint64_t{2} * moment + 1;
  return events_ / halves * at + events_ % halves * at / halves;
}

void compactness_meter::look_until(std::uint64_t event) {
  while (moment_ < moments_ && next_ < event) {
    const std::uint64_t looked = next_;
    look(looked);
    while (next_ == looked) next_ = event_of(++moment_);
  }
}

void compactness_meter::look(std::uint64_t event) {
  live_.clear();
  std::ranges::copy_if(blocks_, std::back_inserter(live_), [](const block& b) { return b.size != 0; });
  boost::sort::pdqsort_branchless(live_.begin(), live_.end(),
                                  [](const block& a, const block& b) { return a.address < b.address; });
  std::vector<group_walk> walks(groups_);
  for (const block& b : live_) {
    const std::uint64_t last = b.address + std::min(b.size - 1, UINT64_MAX - b.address);
    group_walk& walk = walks[b.group];
    walk.live_bytes += b.size;
    walk.lines.add(b.address >> line_bits, last >> line_bits);
    walk.pages.add(b.address >> page_bits, last >> page_bits);
  }
  for (std::uint32_t group = 0; group < groups_; ++group) {
    const group_walk& walk = walks[group];
    if (walk.live_bytes == 0) continue;
    found_.push_back({.group = group,
                      .event = event,
                      .live_bytes = walk.live_bytes,
                      .line_bytes = walk.lines.count() << line_bits,
                      .page_bytes = walk.pages.count() << page_bits});
  }
}

}  // namespace mallard::profile
