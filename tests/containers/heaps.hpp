// Every heap of the library, and how checks of containers are registered for all of them.
//
//     template <class Memory>
//     struct checks { static void all(); };
//     const bool held = register_for_every_heap<checks>("list");     tests list.multipool_typed ...
//
// A new heap adds its line here.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "containers/memory.hpp"
#include "mallard/heap/adaptive_multipool.hpp"
#include "mallard/heap/adaptive_pool.hpp"
#include "mallard/heap/best_fit.hpp"
#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/heap/pool.hpp"
#include "mallard/heap/stack_arena.hpp"
#include "mallard/heap/synchronized_multipool.hpp"
#include "mallard/heap/synchronized_pool.hpp"
#include "mallard/layer/locked.hpp"

namespace mallard::containers {

class registered_test : public testing::Test {
 public:
  explicit registered_test(void (*body)()) : body_(body) {}

 private:
  void TestBody() override { body_(); }
  void (*body_)();
};

inline void register_test(const char* suite, const std::string& name, void (*body)()) {
  testing::RegisterTest(suite, name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                        [body]() -> testing::Test* { return new registered_test(body); });
}

template <template <class> class Checks, heap Heap>
void register_typed(const char* suite, const std::string& heap) {
  register_test(suite, heap + "_typed", [] {
    chosen_heap::choose<Heap>();
    Checks<typed<chosen_heap>>::all();
  });
}

template <template <class> class Checks, heap Heap>
void register_for(const char* suite, const std::string& heap) {
  register_typed<Checks, Heap>(suite, heap);
  register_test(suite, heap + "_pmr", [] {
    pmr::choose<Heap>();
    Checks<pmr>::all();
  });
}

template <template <class> class Checks>
bool register_for_heaps_of_any_size(const char* suite) {
  using model::source;
  register_for<Checks, basic_best_fit<source>>(suite, "best_fit");
  register_for<Checks, basic_monotonic<source>>(suite, "monotonic");
  register_for<Checks, basic_multipool<source>>(suite, "multipool");
  register_for<Checks, basic_multipool<basic_monotonic<source>>>(suite, "multipool_over_monotonic");
  register_for<Checks, basic_stack_arena<256, source>>(suite, "stack_arena");
  register_for<Checks, basic_synchronized_multipool<source>>(suite, "synchronized_multipool");
  register_for<Checks, locked<basic_multipool<source>>>(suite, "locked_multipool");
  register_typed<Checks, basic_adaptive_multipool<source>>(suite, "adaptive_multipool");
  return true;
}

// For what asks for blocks of one size only.
template <template <class> class Checks>
bool register_for_every_heap(const char* suite) {
  register_for<Checks, basic_pool<model::source>>(suite, "pool");
  register_for<Checks, basic_synchronized_pool<model::source>>(suite, "synchronized_pool");
  register_typed<Checks, basic_adaptive_pool<model::source>>(suite, "adaptive_pool");
  return register_for_heaps_of_any_size<Checks>(suite);
}

}  // namespace mallard::containers
