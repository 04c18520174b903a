// Heaps that watch for misuse, with and without a quarantine: right use of them is not reported, wrong use
// is.
#include "mallard/debug/guarded.hpp"

#include <unistd.h>

#include "mallard/debug/guard_pages.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/layer/locked.hpp"
#include "model/every_property.hpp"

namespace mallard::model {
namespace {

template <class Heap, std::size_t Quarantine>
struct quarantined : model {
  using heap = Heap;
  // What was given back waits in the quarantine for its next use.
  static constexpr bool reuses = Quarantine == 0;
  struct rig {
    Heap heap;
    rig() { heap.set_quarantine(Quarantine); }
  };
};

const bool held =
    has_every_property<quarantined<guarded<source>, 0>>("guarded") &&
    has_every_property<quarantined<guarded<source>, 1 << 15>>("guarded_with_quarantine") &&
    has_every_property<quarantined<guarded<basic_multipool<source>>, 1 << 15>>("guarded_multipool") &&
    has_every_property<quarantined<guard_pages, 0>>("guard_pages") &&
    has_every_property<quarantined<guard_pages, 1 << 20>>("guard_pages_with_quarantine");

struct locked_model : model {
  using heap = locked<guarded<source>>;
  static constexpr bool reuses = false;
};

const bool is_held_for_threads = has_every_property<locked_model>("locked_guarded");

// Whether a byte can be read, as the kernel says: no fault.
bool is_readable(const volatile std::byte* p) {
  int ends[2];
  if (::pipe(ends) != 0) return false;
  const bool read = ::write(ends[1], const_cast<const std::byte*>(p), 1) == 1;
  ::close(ends[0]);
  ::close(ends[1]);
  return read;
}

TEST(GuardPagesModel, AllowNoAccessBehindInFrontOfAndAfterABlock) {
  const std::size_t page = os_pages::page_size();
  guard_pages heap;
  for (const std::size_t size : {48u, 4096u, 10000u})
    for (const std::size_t align : {16u, 4096u, 16384u}) {
      auto* const p = static_cast<std::byte*>(heap.allocate(size, align).data);
      const std::byte* const last = p + size - 1;
      EXPECT_TRUE(is_readable(p) && is_readable(last));
      EXPECT_FALSE(is_readable(last + 1 + padding_for(last + 1, page))) << size << " aligned to " << align;
      EXPECT_FALSE(is_readable(p - (address_of(p) & (page - 1)) - 1)) << size << " aligned to " << align;
      heap.deallocate(p, size, align);
      EXPECT_FALSE(is_readable(p) || is_readable(last));
    }
}

}  // namespace
}  // namespace mallard::model
