// The sources, held to the properties of heaps: blocks of theirs are the chunks of all others.
#include <memory>
#include <memory_resource>
#include <new>

#include "mallard/layer/failing.hpp"
#include "mallard/layer/locked.hpp"
#include "mallard/source/chunk_cache.hpp"
#include "mallard/source/counting.hpp"
#include "mallard/source/default_source.hpp"
#include "mallard/source/fixed_buffer.hpp"
#include "mallard/source/memory_resource_source.hpp"
#include "mallard/source/os_pages.hpp"
#include "mallard/source/upstream_ref.hpp"
#include "model/every_property.hpp"

namespace mallard::model {
namespace {

struct passing_through : model {
  static constexpr bool ends_its_blocks = false;
};

struct failing_model : passing_through {
  using heap = source;
};

struct counting_model : passing_through {
  using heap = counting<source>;
};

struct os_pages_model : passing_through {
  using heap = os_pages;
};

struct cached_pages_model : passing_through {
  using heap = cached_pages;
};

struct default_source_model : passing_through {
  using heap = default_source;
};

// The whole of it, over a source that sees what is taken from it and what comes back.
template <class Source>
struct chunk_cache_over : passing_through {
  using heap = basic_chunk_cache<Source, 0, standing_clock>;
  struct rig {
    basic_chunk_cache<Source, 0, standing_clock> heap;
    rig() = default;
    rig(const rig&) = delete;
    rig& operator=(const rig&) = delete;
    ~rig() { heap.trim(0); }
  };
};
struct chunk_cache_model : chunk_cache_over<source> {};
struct shared_chunk_cache_model : chunk_cache_over<locked<source>> {};  // which many threads may use

// So little is kept that most of what comes back drives something out.
struct small_chunk_cache_model : passing_through {
  using heap = basic_chunk_cache<source, 0, standing_clock>;
  struct rig : chunk_cache_model::rig {
    rig() { heap.set_limit(std::size_t{40} << 10); }
  };
};

// A memory_resource whose blocks are the chunk_registry's, so that sizes and alignments that come back are
// checked.
class registry_resource final : public std::pmr::memory_resource {
  void* do_allocate(std::size_t size, std::size_t align) override {
    const block given = chunk_registry::current()->hand_out(size, align);
    if (!given) throw std::bad_alloc();
    return given.data;
  }
  void do_deallocate(void* p, std::size_t size, std::size_t align) override {
    chunk_registry::current()->take_back(p, size, align);
  }
  [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }
};

struct memory_resource_model : passing_through {
  using heap = counting<memory_resource_source>;
  struct rig {
    registry_resource resource;
    counting<memory_resource_source> heap{&resource};
  };
};

struct upstream_ref_model : passing_through {
  using heap = upstream_ref<source>;
  struct rig {
    source owned;
    upstream_ref<source> heap{owned};
  };
};

struct fixed_buffer_model : passing_through {
  using heap = fixed_buffer;
  struct rig {
    static constexpr std::size_t bytes = std::size_t{1} << 25;
    std::unique_ptr<std::byte[]> buffer = std::make_unique_for_overwrite<std::byte[]>(bytes);
    fixed_buffer heap{buffer.get() + 1, bytes - 1};  // the caller's buffer need not be aligned
  };
};

const bool held = has_every_property<failing_model>("failing") &&
                  has_every_property<counting_model>("counting") &&
                  has_every_property<os_pages_model>("os_pages") &&
                  has_every_property<cached_pages_model>("cached_pages") &&
                  has_every_property<default_source_model>("default_source") &&
                  has_every_property<chunk_cache_model>("chunk_cache") &&
                  has_every_property<shared_chunk_cache_model>("shared_chunk_cache") &&
                  has_every_property<small_chunk_cache_model>("small_chunk_cache") &&
                  has_every_property<memory_resource_model>("memory_resource_source") &&
                  has_every_property<upstream_ref_model>("upstream_ref") &&
                  has_every_property<fixed_buffer_model>("fixed_buffer");

}  // namespace
}  // namespace mallard::model
