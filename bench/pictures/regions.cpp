// Where nested regions put objects, and when they end: one line an object, for the picture of
// docs/regions.md.
//
//     region BIRTH DEATH OFFSET SIZE KIND    births and deaths in events, offsets and sizes in bytes
//
// A server: a region of the process, below it one for each connection, below that one for each request. A
// request's objects end with it, one by one with nothing else; a connection that ends takes an unfinished
// request along; and at its half the process clears what it has cached, a child that stays.
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "mallard/core/concepts.hpp"
#include "mallard/core/growth.hpp"
#include "mallard/heap/region.hpp"
#include "mallard/source/fixed_buffer.hpp"

namespace {

using mallard::nesting;
using region = mallard::basic_region<mallard::fixed_buffer, mallard::doubling<1024, 4096>>;

alignas(4096) std::array<std::byte, 65536> buffer;
std::size_t now = 0;

// A region with the objects that end with it.
class member {
 public:
  member(const char* kind, std::unique_ptr<region> made) : kind_(kind), region_(std::move(made)) {}

  [[nodiscard]] std::unique_ptr<region> child() {
    return std::make_unique<region>(*region_, nesting::ends_with_parent);
  }
  [[nodiscard]] std::unique_ptr<region> cleared_child() {
    return std::make_unique<region>(*region_, nesting::cleared_with_parent);
  }

  void allocate(std::size_t count, std::size_t size) {
    for (; count != 0; --count) {
      void* const data = region_->allocate(size, 8).data;
      if (data == nullptr) std::exit(1);
      live_.push_back({data, now++, size});
    }
  }

  void clear() {
    region_->clear();
    forget();
  }

  // Tells of all objects, which have ended.
  void forget() {
    ++now;
    for (const object& o : live_)
      std::printf("region %zu %zu %td %zu %s\n", o.birth, now,
                  static_cast<std::byte*>(o.data) - buffer.data(), o.size, kind_);
    live_.clear();
  }

  void end() {
    region_.reset();
    forget();
  }

 private:
  struct object {
    void* data;
    std::size_t birth, size;
  };

  const char* kind_;
  std::unique_ptr<region> region_;
  std::vector<object> live_;
};

}  // namespace

int main() {
  member process("process", std::make_unique<region>(buffer.data(), buffer.size()));
  process.allocate(12, 64);
  member cache("cache", process.cleared_child());
  for (int connections = 0; connections < 3; ++connections) {
    member connection("connection", process.child());
    connection.allocate(10, 96);
    for (std::size_t requests = 0; requests < 3; ++requests) {
      member request("request", connection.child());
      request.allocate(20 + 10 * requests, 48);
      cache.allocate(4, 80);
      connection.allocate(2, 96);
      if (connections != 1 || requests != 2) {
        request.end();
        continue;
      }
      connection.end();
      request.forget();
    }
    connection.end();
    if (connections == 1) {
      process.clear();
      cache.forget();
      process.allocate(12, 64);
    }
  }
  process.end();
  cache.forget();
}
