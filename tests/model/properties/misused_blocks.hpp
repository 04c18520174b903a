// Properties of heaps that watch for misuse: each is reported once, for the right block, and does no harm.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <vector>

#include "mallard/debug/block_table.hpp"
#include "mallard/debug/misuse.hpp"
#include "model/random.hpp"
#include "model/shadow.hpp"

namespace mallard::model {

// A heap with a table of its blocks.
template <class H>
concept watchful = heap<H> && requires(H& h) {
  { h.table() } -> std::same_as<block_table&>;
};

// Records what a heap reports instead of ending the test; complains of what nobody has asked for.
template <watchful Heap>
class report_log {
 public:
  explicit report_log(Heap& heap) : heap_(heap) { heap.table().set_handler(record, this); }
  report_log(const report_log&) = delete;
  report_log& operator=(const report_log&) = delete;
  ~report_log() { heap_.table().set_handler(nullptr, nullptr); }

  // What was reported since the last time is just this, of the block at `data` and with its place; null: of
  // none.
  void expect(misuse what, const void* data) {
    ASSERT_EQ(seen_.size(), 1u) << "to be reported once: " << what_happened(what);
    EXPECT_EQ(seen_[0].what, what) << "told: " << what_happened(seen_[0].what);
    EXPECT_EQ(seen_[0].data, data) << what_happened(what);
    EXPECT_TRUE(data == nullptr || seen_[0].has_place) << "no place of the allocation";
    seen_.clear();
  }

  void expect_silence() const { EXPECT_TRUE(seen_.empty()) << "told: " << what_happened(seen_[0].what); }

 private:
  struct told {
    misuse what;
    const void* data;
    bool has_place;
  };

  static void record(const misuse_report& r, void* self) {
    static_cast<report_log*>(self)->seen_.push_back({r.what, r.block == nullptr ? nullptr : r.block->data,
                                                     r.block != nullptr && !r.block->allocated.empty()});
  }

  Heap& heap_;
  std::vector<told> seen_;
};

// What a misuse is tried on: neither its pages nor the alignment end where it does.
inline std::size_t odd_size(random_source& r) { return r.spread(1, 1 << 12) * 8 + 1 + r.below(6); }

template <class M>
struct what_comes_back_wrongly_is_told {
  static constexpr const char* name = "what_comes_back_wrongly_is_told";
  static constexpr bool applies = watchful<typename M::heap>;
  static void check() {
    const chunk_registry registry;
    rig<M> under_test;
    auto& heap = under_test.heap;
    report_log w(heap);
    random_source r(43);
    const block other = heap.allocate(100, 8);
    for (int i = 0; i < 60 && !testing::Test::HasFailure(); ++i) {
      const std::size_t size = odd_size(r);
      const block b = heap.allocate(size, 8);
      int foreign = 0;
      heap.deallocate(&foreign, sizeof foreign, alignof(int));
      w.expect(misuse::foreign_pointer, nullptr);
      heap.deallocate(static_cast<std::byte*>(b.data) + size / 2 + 1, size, 8);
      w.expect(misuse::foreign_pointer, b.data);
      EXPECT_EQ(heap.usable_size(b.data), size) << "what was reported is left alone";

      const std::size_t wrong = r.below(3);
      heap.deallocate(b.data, wrong == 0 ? size + 1 : wrong == 1 ? size - 1 : size, wrong == 2 ? 16 : 8);
      w.expect(wrong == 2 ? misuse::wrong_align : misuse::wrong_size, b.data);
      const bool is_kept = heap.table().around(b.data) != nullptr;
      heap.deallocate(b.data, size, 8);
      w.expect(is_kept ? misuse::double_free : misuse::foreign_pointer, is_kept ? b.data : nullptr);
    }
    heap.deallocate(other.data, 100, 8);
    heap.release();
    w.expect_silence();
    EXPECT_EQ(registry.held(), 0u);
  }
};

template <class M>
struct a_write_beside_a_block_is_told {
  static constexpr const char* name = "a_write_beside_a_block_is_told";
  static constexpr bool applies = watchful<typename M::heap>;
  static void check() {
    const chunk_registry registry;
    rig<M> under_test;
    auto& heap = under_test.heap;
    report_log w(heap);
    random_source r(47);
    for (int i = 0; i < 60 && !testing::Test::HasFailure(); ++i) {
      const std::size_t size = odd_size(r);
      const block b = heap.allocate(size, 8);
      auto* const data = static_cast<std::byte*>(b.data);
      std::memset(data, scribble, size);
      EXPECT_FALSE(heap.validate());
      const bool behind = r.below(2) == 0;
      *(behind ? data + size : data - 1) = std::byte{scribble};
      EXPECT_TRUE(heap.validate());
      heap.deallocate(b.data, size, 8);
      w.expect(behind ? misuse::written_behind : misuse::written_before, b.data);
      EXPECT_FALSE(heap.validate()) << "what was reported is not reported again";
    }
    heap.release();
    w.expect_silence();
  }

 private:
  static constexpr unsigned char scribble = 0xdd;
};

template <class M>
struct what_freed_blocks_keep_is_bounded {
  static constexpr const char* name = "what_freed_blocks_keep_is_bounded";
  static constexpr bool applies = watchful<typename M::heap> && trimmable<typename M::heap>;
  static void check() {
    const chunk_registry registry;
    rig<M> under_test;
    auto& heap = under_test.heap;
    random_source r(59);
    for (const std::size_t most : {std::size_t{1} << 18, std::size_t{100000}, std::size_t{0}}) {
      heap.set_quarantine(most);
      for (int i = 0; i < 100; ++i) {
        const std::size_t size = r.spread(1, 1 << 12);
        heap.deallocate(heap.allocate(size, 8).data, size, 8);
        EXPECT_LE(heap.usage().held, most);
      }
    }
  }
};

// Where freed memory can still be written to, and waits for a while.
template <class M>
struct a_write_after_free_is_told {
  static constexpr const char* name = "a_write_after_free_is_told";
  static constexpr bool applies =
      watchful<typename M::heap> && layered<typename M::heap> && trimmable<typename M::heap> && !M::reuses;
  static void check() {
    const chunk_registry registry;
    rig<M> under_test;
    auto& heap = under_test.heap;
    report_log w(heap);
    random_source r(53);
    for (int i = 0; i < 60 && !testing::Test::HasFailure(); ++i) {
      const std::size_t size = r.spread(1, 1 << 12);
      const block b = heap.allocate(size, 8);
      heap.deallocate(b.data, size, 8);
      heap.deallocate(heap.allocate(size, 8).data, size, 8);
      EXPECT_FALSE(heap.validate());
      static_cast<std::byte*>(b.data)[r.below(size)] = std::byte{0};
      EXPECT_TRUE(heap.validate());
      heap.trim(0);
      w.expect(misuse::written_after_free, b.data);
    }
  }
};

}  // namespace mallard::model
