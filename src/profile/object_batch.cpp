#include "profile/object_batch.hpp"

#include <utility>

namespace mallard::profile {
namespace {

void resize(object_batch& batch, std::size_t rows) {
  for_each_column(batch, [rows](const char*, auto& column) { column.resize(rows); });
}

}  // namespace

void column_writer::add(const object& o) {
  if (filling_.count() == 0) resize(filling_, rows_);
  const std::size_t row = count_++;
  filling_.allocation[row] = o.allocation;
  filling_.free[row] = o.free;
  filling_.previous[row] = o.previous;
  filling_.allocation_time[row] = o.allocation_time;
  filling_.free_time[row] = o.free_time;
  filling_.address[row] = o.address;
  filling_.size[row] = o.size;
  filling_.alignment[row] = o.alignment;
  filling_.between[row] = o.between;
  filling_.allocation_ns[row] = o.allocation_ns;
  filling_.free_ns[row] = o.free_ns;
  filling_.context[row] = o.context;
  filling_.free_context[row] = o.free_context;
  filling_.thread[row] = o.thread;
  filling_.free_thread[row] = o.free_thread;
  filling_.region[row] = o.region;
  filling_.kind[row] = static_cast<std::uint8_t>(o.kind);
  filling_.free_kind[row] = static_cast<std::uint8_t>(o.free_kind);
  filling_.origin[row] = static_cast<std::uint8_t>(o.origin);
  filling_.size_class[row] = static_cast<std::uint8_t>(size_class(o.size));
  if (count_ < rows_) return;
  full_.push_back(std::exchange(filling_, {}));
  count_ = 0;
}

bool column_writer::take(object_batch& to) {
  if (!full_.empty()) {
    to = std::move(full_.front());
    full_.pop_front();
    return true;
  }
  to = std::exchange(filling_, {});
  resize(to, std::exchange(count_, 0));
  return to.count() > 0;
}

}  // namespace mallard::profile
