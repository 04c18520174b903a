// The whole library.
#pragma once

// core: what a heap is
#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/chain.hpp"
#include "mallard/core/check.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/intrusive_stack.hpp"
#include "mallard/core/light_mutex.hpp"
#include "mallard/core/pool_statistics.hpp"
#include "mallard/core/resize.hpp"
#include "mallard/core/size_classes.hpp"
#include "mallard/core/tally.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/core/version.hpp"

// source: where memory comes from
#include "mallard/source/borrowed.hpp"
#include "mallard/source/cached_pages.hpp"
#include "mallard/source/chunk_cache.hpp"
#include "mallard/source/chunk_sizes.hpp"
#include "mallard/source/counting.hpp"
#include "mallard/source/default_source.hpp"
#include "mallard/source/fixed_buffer.hpp"
#include "mallard/source/memory_resource_source.hpp"
#include "mallard/source/os_pages.hpp"
#include "mallard/source/process_chunks.hpp"

// layer: what heaps are made of
#include "mallard/layer/bump.hpp"
#include "mallard/layer/chunk_list.hpp"
#include "mallard/layer/failing.hpp"
#include "mallard/layer/growth.hpp"
#include "mallard/layer/limited.hpp"
#include "mallard/layer/locked.hpp"
#include "mallard/layer/one_by_one.hpp"
#include "mallard/layer/passing.hpp"
#include "mallard/layer/returned_batches.hpp"
#include "mallard/layer/runs.hpp"
#include "mallard/layer/segregate.hpp"
#include "mallard/layer/slabs.hpp"
#include "mallard/layer/stats.hpp"
#include "mallard/layer/thread_cache.hpp"
#include "mallard/layer/thread_caches.hpp"
#include "mallard/layer/thread_table.hpp"
#include "mallard/layer/tracked.hpp"

// heap: complete strategies
#include "mallard/heap/heap_name.hpp"
#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/heap/pool.hpp"
#include "mallard/heap/stack_arena.hpp"
#include "mallard/heap/synchronized_multipool.hpp"
#include "mallard/heap/synchronized_pool.hpp"

// facades: heaps for containers
#include "mallard/allocator/allocator.hpp"
#include "mallard/allocator/winkout.hpp"
#include "mallard/allocator/winkout_containers.hpp"
#include "mallard/allocator/winkout_safe.hpp"
#include "mallard/resource/resource.hpp"

// journal: what a recorded file says
#include "mallard/journal/event.hpp"
#include "mallard/journal/layout.hpp"
