// column_writer: objects, as they end, into batches of columns.
//
//     died, survived --> | batch | batch | batch being filled
//                            `--> take()
//
// Cost: one store a column.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "profile/object.hpp"
#include "profile/object_batch.hpp"
#include "profile/watcher.hpp"

namespace mallard::profile {

class column_writer final : public watcher {
 public:
  // `rows` is the length of every batch but the last.
  explicit column_writer(std::size_t rows) : rows_(rows) {}

  void born(std::uint32_t /*slot*/, const object& /*o*/) override {}
  void died(std::uint32_t /*slot*/, const object& o) override { add(o); }
  void survived(std::uint32_t /*slot*/, const object& o) override { add(o); }

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
