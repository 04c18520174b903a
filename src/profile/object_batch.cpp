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
  filling_.birth[row] = o.birth;
  filling_.death[row] = o.death;
  filling_.previous[row] = o.previous;
  filling_.birth_time[row] = o.birth_time;
  filling_.death_time[row] = o.death_time;
  filling_.address[row] = o.address;
  filling_.size[row] = o.size;
  filling_.alignment[row] = o.alignment;
  filling_.between[row] = o.between;
  filling_.birth_ns[row] = o.birth_ns;
  filling_.death_ns[row] = o.death_ns;
  filling_.context[row] = o.context;
  filling_.death_context[row] = o.death_context;
  filling_.thread[row] = o.thread;
  filling_.death_thread[row] = o.death_thread;
  filling_.region[row] = o.region;
  filling_.kind[row] = static_cast<std::uint8_t>(o.kind);
  filling_.death_kind[row] = static_cast<std::uint8_t>(o.death_kind);
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
