// object_batch: objects as columns of equal length, ready to be handed over one by one.
//
// The meaning of each column is that of the member of object with its name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "profile/watcher.hpp"

namespace mallard::profile {

struct object_batch {
  std::vector<std::uint64_t> allocation, free, previous, allocation_time, free_time, address, size, alignment,
      between;
  std::vector<float> allocation_ns, free_ns;
  std::vector<std::uint32_t> context, free_context, thread, free_thread, region;
  std::vector<std::uint8_t> kind, free_kind, origin, size_class;

  [[nodiscard]] std::size_t count() const noexcept { return allocation.size(); }
};

// Calls visit(name, column) for each column of `batch`.
template <class Batch, class Visit>
void for_each_column(Batch& batch, Visit visit) {
  visit("allocation", batch.allocation);
  visit("free", batch.free);
  visit("previous", batch.previous);
  visit("allocation_time", batch.allocation_time);
  visit("free_time", batch.free_time);
  visit("address", batch.address);
  visit("size", batch.size);
  visit("alignment", batch.alignment);
  visit("between", batch.between);
  visit("allocation_ns", batch.allocation_ns);
  visit("free_ns", batch.free_ns);
  visit("context", batch.context);
  visit("free_context", batch.free_context);
  visit("thread", batch.thread);
  visit("free_thread", batch.free_thread);
  visit("region", batch.region);
  visit("kind", batch.kind);
  visit("free_kind", batch.free_kind);
  visit("origin", batch.origin);
  visit("size_class", batch.size_class);
}

// Objects, as they end, into batches of columns.
//
//     freed, leaked --> | batch | batch | batch being filled
//                         `--> take()
//
// Cost: one store a column.
class column_writer final : public watcher {
 public:
  // `rows` is the length of every batch but the last.
  explicit column_writer(std::size_t rows) : rows_(rows) {}

  void allocated(std::uint32_t /*slot*/, const object& /*o*/) override {}
  void freed(std::uint32_t /*slot*/, const object& o) override { add(o); }
  void leaked(std::uint32_t /*slot*/, const object& o) override { add(o); }

  // Whether a whole batch is there.
  [[nodiscard]] bool full() const noexcept { return !full_.empty(); }

  // Moves the oldest batch into `to`, a shorter one only where there is no other; false if there is none.
  bool take(object_batch& to);

 private:
  void add(const object& o);

  std::size_t rows_;
  object_batch filling_;
  std::size_t count_ = 0;  // rows of filling_ that are used
  std::deque<object_batch> full_;
};

}  // namespace mallard::profile
