// thread_multipool: a multipool for each thread, which any thread's frees find back to.
#pragma once

#include <string_view>

#include "mallard/core/concepts.hpp"
#include "mallard/core/growth.hpp"
#include "mallard/core/light_mutex.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/source/default_source.hpp"
#include "mallard/thread/owned_pages.hpp"
#include "mallard/thread/thread_heaps.hpp"

namespace mallard {

template <heap Upstream = default_source, class Classes = thread_heap_classes,
          growth_policy Growth = multipool_growth, growth_policy RunGrowth = multipool_run_growth,
          class Mutex = light_mutex>
using basic_thread_multipool =
    thread_heaps<basic_multipool<thread_pages<Upstream, Mutex>, Classes, Growth, RunGrowth>>;

using thread_multipool = basic_thread_multipool<>;

template <>
inline constexpr std::string_view heap_name<thread_multipool> = "threads/multipool";

}  // namespace mallard
