#include "programs/interpreter/list.hpp"

#include <algorithm>

#include "programs/memory/objects.hpp"

namespace mallard::programs {

value make_list(region& r, std::uint32_t room) {
  value v;
  v.is = type::list;
  v.owned = true;
  v.list = make<list>(r, list{make_array<value>(r, room), 0, room});
  return v;
}

void append(region& r, list& l, const value& v) {
  if (l.count == l.room) {
    const std::uint32_t room = std::max<std::uint32_t>(4, 2 * l.room);
    value* const items = make_array<value>(r, room);
    std::copy_n(l.items, l.count, items);
    drop_array(r, l.items, l.room);
    l.items = items;
    l.room = room;
  }
  l.items[l.count++] = v;
}

}  // namespace mallard::programs
