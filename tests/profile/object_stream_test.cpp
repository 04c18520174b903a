#include "profile/object_stream.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "journal/binary/sample_journal.hpp"
#include "journal/binary/writer.hpp"
#include "journal/events/batch_of.hpp"
#include "profile/naive_pairing.hpp"
#include "profile/object.hpp"
#include "scratch_folder.hpp"
#include "slow_tests.hpp"

namespace mallard::profile {
namespace {

using journal::event;
using journal::event_kind;

// The rows of a batch as objects again.
std::vector<object> objects_of(const object_batch& batch) {
  for_each_column(
      batch, [&](const char* name, const auto& column) { EXPECT_EQ(column.size(), batch.count()) << name; });
  std::vector<object> objects;
  for (std::size_t row = 0; row < batch.count(); ++row) {
    EXPECT_EQ(batch.size_class[row], size_class(batch.size[row]));
    objects.push_back({.allocation = batch.allocation[row],
                       .free = batch.free[row],
                       .previous = batch.previous[row],
                       .allocation_time = batch.allocation_time[row],
                       .free_time = batch.free_time[row],
                       .address = batch.address[row],
                       .size = batch.size[row],
                       .alignment = batch.alignment[row],
                       .between = batch.between[row],
                       .allocation_ns = batch.allocation_ns[row],
                       .free_ns = batch.free_ns[row],
                       .context = batch.context[row],
                       .free_context = batch.free_context[row],
                       .thread = batch.thread[row],
                       .free_thread = batch.free_thread[row],
                       .region = batch.region[row],
                       .kind = static_cast<event_kind>(batch.kind[row]),
                       .free_kind = static_cast<event_kind>(batch.free_kind[row]),
                       .origin = static_cast<origin>(batch.origin[row])});
  }
  return objects;
}

std::vector<object> read_all(object_stream& stream) {
  std::vector<object> all;
  object_batch batch;
  while (stream.next(batch)) {
    EXPECT_LE(batch.count(), object_stream::most_rows);
    const std::vector<object> more = objects_of(batch);
    all.insert(all.end(), more.begin(), more.end());
  }
  EXPECT_EQ(batch.count(), 0U);
  EXPECT_FALSE(stream.next(batch));
  return all;
}

// A journal file with these events, in a clock of ns.
class written {
 public:
  explicit written(const std::vector<event>& events) {
    journal::writer out(file_.path());
    for (std::uint32_t thread = 0; thread < 3; ++thread) (void)out.add_thread({.system_id = 100 + thread});
    for (const event& e : events) out.append(e);
    out.finish();
  }

  [[nodiscard]] std::filesystem::path path() const { return file_.path(); }

 private:
  test::temporary_file file_;
};

TEST(object_stream, tells_objects_and_totals_of_a_journal) {
  object_stream stream(
      journal::open_bytes("a 100 1000 7 10\na 50 2000 7 20\nf 1000 8 30\na 30 1000 7 40\nf 3000 7 45\n"));
  const std::vector<object> objects = read_all(stream);
  ASSERT_EQ(objects.size(), 3U);
  EXPECT_EQ(objects[0].size, 100U);
  EXPECT_EQ(objects[0].free, 2U);
  EXPECT_EQ(objects[0].free_thread, 1U);
  EXPECT_EQ(objects[1].size, 50U);
  EXPECT_EQ(objects[2].size, 30U);
  const stream_totals& totals = stream.totals();
  EXPECT_EQ(totals.counts.events, 5U);
  EXPECT_EQ(totals.counts.unmatched_frees, 1U);
  EXPECT_EQ(totals.end_time, 45U);
  EXPECT_EQ(totals.allocations, 3U);
  EXPECT_EQ(totals.bytes, 180U);
  EXPECT_EQ(totals.peak_live_bytes, 150U);
  EXPECT_EQ(totals.peak_live_objects, 2U);
  EXPECT_EQ(totals.peak_event, 1U);
  EXPECT_EQ(totals.peak_time, 20U);
  EXPECT_EQ(totals.end_live_bytes, 80U);
  EXPECT_EQ(totals.end_live_objects, 2U);
  EXPECT_EQ(totals.over_time.bucket_ns, 1U);
  EXPECT_EQ(totals.over_time.live_bytes.size(), 46U);
  EXPECT_EQ(totals.over_time.live_bytes[30], 150U);
  EXPECT_EQ(totals.over_time.live_bytes[31], 50U);
  EXPECT_EQ(totals.over_time.held_bytes[45], 2 * 4096U);
  EXPECT_EQ(stream.source().tables().threads.size(), 2U);
  EXPECT_TRUE(stream.source().complete());
}

TEST(object_stream, tells_the_same_totals_without_objects) {
  const test::temporary_file file("a 100 1000 7 10\na 50 2000 7 20\nf 1000 8 30\na 30 1000 7 40\n");
  object_stream bare(file.path(), object_stream::contents::totals_only);
  EXPECT_TRUE(read_all(bare).empty());
  EXPECT_EQ(bare.totals().allocations, 3U);
  EXPECT_EQ(bare.totals().peak_live_bytes, 150U);
  ASSERT_EQ(bare.totals().contexts.size(), 1U);
  EXPECT_EQ(bare.totals().contexts[0].peak_bytes, 150U);
  EXPECT_EQ(bare.totals().contexts[0].leaked_bytes, 80U);
}

TEST(object_stream, the_first_of_equal_peaks_counts) {
  object_stream stream(journal::open_bytes("a 100 1000 7 10\nf 1000 7 20\na 100 1000 7 30\na 0 2000 7 40\n"));
  read_all(stream);
  EXPECT_EQ(stream.totals().peak_event, 0U);
  EXPECT_EQ(stream.totals().peak_live_objects, 1U);
}

TEST(object_stream, a_journal_without_allocations_has_no_objects) {
  object_stream stream(journal::open_bytes("f 1000 8 30\n"));
  EXPECT_TRUE(read_all(stream).empty());
  EXPECT_EQ(stream.totals().counts.events, 1U);
  EXPECT_EQ(stream.totals().end_time, 30U);
}

TEST(object_stream, reads_a_journal_of_every_kind_of_event) {
  const test::temporary_file file;
  journal::write_sample(file.path());
  object_stream stream(file.path());
  const std::size_t objects = read_all(stream).size();
  EXPECT_GT(objects, 9U);
  EXPECT_EQ(stream.progress(), 1);
  EXPECT_EQ(stream.totals().counts.events, journal::sample_events().size());
  EXPECT_EQ(stream.totals().regions.size(), 1U);
  EXPECT_EQ(stream.totals().regions[0].objects, 1U);
}

TEST(object_stream, hands_over_full_batches_and_a_rest) {
  std::string lines;
  for (std::uint64_t i = 1; i <= object_stream::most_rows + 10; ++i)
    lines += "a 8 " + std::to_string(1000 + i) + " 1 5\nf " + std::to_string(1000 + i) + " 1 6\n";
  object_stream stream(journal::open_bytes(lines));
  std::vector<std::size_t> lengths;
  object_batch batch;
  while (stream.next(batch)) {
    if (batch.count() == 0) continue;
    lengths.push_back(batch.count());
    if (lengths.size() == 1) {
      EXPECT_EQ(batch.allocation.back(), 2 * object_stream::most_rows - 2);
    }
  }
  EXPECT_EQ(lengths, (std::vector<std::size_t>{object_stream::most_rows, 10}));
}

TEST(object_stream, comes_back_while_nothing_has_ended) {
  std::string lines;
  for (std::uint64_t i = 1; i <= 300'000; ++i) lines += "a 8 " + std::to_string(1000 + i) + " 1 5\n";
  object_stream stream(journal::open_bytes(lines));
  double read = 0;
  int without_objects = 0;
  for (object_batch batch; stream.next(batch) && batch.count() == 0; ++without_objects) {
    EXPECT_GE(stream.progress(), read);
    read = stream.progress();
  }
  EXPECT_GT(without_objects, 1);
}

// One event can end more objects than a batch holds, and more can live on.
TEST(object_stream, splits_what_ends_at_once) {
  constexpr std::uint64_t many = (test::slow_tests ? 2 : 1) * object_stream::most_rows + 5;
  std::vector<event> events{{.kind = event_kind::region_create, .region = 1}};
  for (std::uint64_t i = 1; i <= many; ++i)
    events.push_back({.kind = event_kind::region_allocate, .address = 16 * i, .size = 1, .region = 1});
  events.push_back({.kind = event_kind::region_destroy, .region = 1});
  for (std::uint64_t i = 1; i <= many; ++i)
    events.push_back({.kind = event_kind::malloc, .address = 16 * i, .size = 1});
  const written journal(events);
  object_stream stream(journal.path());
  const std::vector<object> objects = read_all(stream);
  ASSERT_EQ(objects.size(), 2 * many);
  EXPECT_EQ(objects.front().allocation, many);
  EXPECT_EQ(objects[many - 1].allocation, 1U);
  EXPECT_EQ(objects[many].allocation, many + 2);
  EXPECT_EQ(stream.totals().allocations, many);
  EXPECT_EQ(stream.totals().regions[0].objects, many);
}

// Two events, between which the clock turns out to be twice as fast.
class corrected_clock final : public journal::event_source {
 public:
  bool next(journal::event_batch& batch) override {
    const std::vector<event> events{{.kind = event_kind::malloc, .time = 10, .address = 16 * ++delivered_}};
    about_.ticks_per_second *= 2;
    batch = journal::batch_of(events, delivered_ - 1);
    return delivered_ <= 2;
  }
  [[nodiscard]] const journal::process_tables& tables() const override { return tables_; }
  [[nodiscard]] const journal::metadata& about() const override { return about_; }
  [[nodiscard]] const std::vector<std::string>& warnings() const override { return warnings_; }
  [[nodiscard]] bool complete() const override { return true; }
  [[nodiscard]] double progress() const override { return 1; }
  void watch(journal::section_type /*type*/, table_receiver /*receive*/) override {}

 private:
  std::uint64_t delivered_ = 0;
  journal::process_tables tables_;
  journal::metadata about_;
  std::vector<std::string> warnings_;
};

TEST(object_stream, has_one_scale_of_times_whatever_is_found_of_the_clock) {
  object_stream stream(std::make_unique<corrected_clock>());
  const std::vector<object> objects = read_all(stream);
  ASSERT_EQ(objects.size(), 2U);
  EXPECT_EQ(objects[0].allocation_time, 5U);
  EXPECT_EQ(objects[1].allocation_time, 5U);
  EXPECT_EQ(stream.clock().ns(10), 5U);
}

// Totals, peak and timeline from the objects themselves: what is alive after each event, one by one.
class alive_over_time {
 public:
  alive_over_time(const std::vector<object>& objects, const std::vector<event>& events) {
    std::uint64_t time = 0;
    for (std::uint64_t number = 0; number < events.size(); ++number) {
      time = std::max(time, events[number].time);
      moment now{.time = time};
      std::set<std::uint64_t> pages;
      for (const object& o : objects) {
        if (o.region != 0 || o.allocation > number || o.free <= number) continue;
        now.bytes += o.size;
        ++now.objects;
        for (std::uint64_t at = o.address / 4096; at <= (o.address + (o.size == 0 ? 0 : o.size - 1)) / 4096;
             ++at)
          pages.insert(at);
        if (o.allocation == number) now.begins = true;
      }
      now.held = 4096 * pages.size();
      moments.push_back(now);
    }
  }

  struct moment {
    std::uint64_t time = 0;
    std::uint64_t bytes = 0;
    std::uint64_t objects = 0;
    std::uint64_t held = 0;
    bool begins = false;  // an object of the malloc family
  };
  std::vector<moment> moments;  // after each event
};

std::vector<event> random_events(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  constexpr std::array kinds = {event_kind::malloc, event_kind::malloc,        event_kind::realloc,
                                event_kind::free,   event_kind::region_create, event_kind::region_allocate};
  std::vector<event> events;
  std::uint64_t time = 0;
  for (int i = 0; i < 300; ++i) {
    time += random() % (std::uint64_t{1} << seed % 20);
    event e{.kind = kinds[random() % kinds.size()],
            .thread = static_cast<std::uint32_t>(random() % 3),
            .time = time,
            .address = 20'480 * (1 + random() % 20)};
    if (!is_free(e.kind) && e.kind != event_kind::region_create) e.size = random() % 20'000;
    if (is_reallocation(e.kind)) e.old_address = 20'480 * (random() % 20);
    if (is_region(e.kind)) e.region = 1 + random() % 3;
    if (e.kind == event_kind::region_create) e.address = 0;
    events.push_back(e);
  }
  return events;
}

TEST(object_stream, agrees_with_a_count_of_what_is_alive_after_each_event) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const std::vector<event> events = random_events(seed);
    const written journal(events);
    object_stream stream(journal.path());
    const std::vector<object> objects = read_all(stream);
    ASSERT_EQ(objects, naive_pairing().pair(events).ends) << "seed " << seed;
    const auto moments = alive_over_time(objects, events).moments;
    const stream_totals& totals = stream.totals();
    const auto peak = std::ranges::max_element(moments, {}, &alive_over_time::moment::bytes);
    ASSERT_EQ(totals.peak_live_bytes, peak->bytes) << "seed " << seed;
    ASSERT_EQ(totals.peak_event, static_cast<std::uint64_t>(peak - moments.begin())) << "seed " << seed;
    ASSERT_EQ(totals.peak_live_objects, peak->objects);
    ASSERT_EQ(totals.peak_time, peak->time);
    ASSERT_EQ(totals.end_live_bytes, moments.back().bytes);
    ASSERT_EQ(totals.end_live_objects, moments.back().objects);
    ASSERT_EQ(totals.end_time, moments.back().time);

    const timeline& rows = totals.over_time;
    alive_over_time::moment before;
    std::size_t next = 0;
    ASSERT_EQ(rows.live_bytes.size(), totals.end_time / rows.bucket_ns + 1);
    for (std::size_t row = 0; row < rows.live_bytes.size(); ++row) {
      alive_over_time::moment most = before;
      std::uint64_t allocations = 0;
      for (; next < moments.size() && moments[next].time / rows.bucket_ns == row; ++next) {
        before = moments[next];
        most.bytes = std::max(most.bytes, before.bytes);
        most.objects = std::max(most.objects, before.objects);
        most.held = std::max(most.held, before.held);
        allocations += before.begins ? 1 : 0;
      }
      ASSERT_EQ(rows.live_bytes[row], most.bytes) << "seed " << seed << " row " << row;
      ASSERT_EQ(rows.live_objects[row], most.objects) << "seed " << seed << " row " << row;
      ASSERT_EQ(rows.held_bytes[row], most.held) << "seed " << seed << " row " << row;
      ASSERT_EQ(rows.allocations[row], allocations) << "seed " << seed << " row " << row;
    }
  }
}

TEST(size_class, starts_with_everything_up_to_eight_bytes) {
  EXPECT_EQ(size_class(0), 0U);
  EXPECT_EQ(size_class(1), 0U);
  EXPECT_EQ(size_class(8), 0U);
  EXPECT_EQ(size_class(9), 1U);
}

TEST(size_class, goes_up_to_its_largest_size_and_no_further) {
  for (unsigned number = 0; number + 1 < size_classes; ++number) {
    const std::uint64_t largest = largest_of_class(number);
    EXPECT_EQ(size_class(largest), number) << largest;
    EXPECT_EQ(size_class(largest + 1), number + 1) << largest;
  }
}

TEST(size_class, ends_each_doubling_at_a_power_of_two) {
  for (std::uint64_t power = 16; power <= std::uint64_t{1} << 18; power *= 2)
    EXPECT_EQ(largest_of_class(size_class(power)), power);
}

TEST(size_class, is_at_most_a_quarter_wide) {
  for (unsigned number = 1; number + 1 < size_classes; ++number) {
    const std::uint64_t below = largest_of_class(number - 1);
    EXPECT_LE(4 * (largest_of_class(number) - below), below) << number;
  }
}

TEST(size_class, takes_all_larger_ones_into_the_last) {
  EXPECT_EQ(size_class(393216), 62U);
  EXPECT_EQ(size_class(393217), 63U);
  EXPECT_EQ(size_class(UINT64_MAX), 63U);
}

}  // namespace
}  // namespace mallard::profile
