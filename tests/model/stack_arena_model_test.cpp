// stack_arena, as large as most traces outgrow and with growth that turns to a new chunk all the time.
#include "mallard/heap/stack_arena.hpp"

#include "model/every_property.hpp"

namespace mallard::model {
namespace {

template <std::size_t Bytes, class Growth>
struct arena_model : model {
  using heap = basic_stack_arena<Bytes, source, Growth>;
  static constexpr bool reuses = false;
  static constexpr bool grows_in_place = Bytes >= 4096;
  static constexpr std::size_t lent_bytes = Bytes;

  // The first block is all of the inside: so the chunk_registry learns where that is.
  struct rig {
    basic_stack_arena<Bytes, source, Growth> heap;
    registered_buffer inside{static_cast<std::byte*>(heap.allocate(Bytes, 1).data), Bytes};
    rig() { heap.release(); }
  };
};

using stack_arena_model = arena_model<4096, monotonic_growth>;
using small_chunks_model = arena_model<100, doubling<64, 256>>;

const bool held = has_every_property<stack_arena_model>("stack_arena") &&
                  has_every_property<small_chunks_model>("stack_arena_of_small_chunks");

}  // namespace
}  // namespace mallard::model
