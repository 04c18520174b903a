// default_source: what heaps stand on unless they are told otherwise.
//
//     heap --> default_source = counting< cached_pages > --> process_chunks() --> os_pages
//
// Pages of the system, by way of the process's chunk cache, counted, so that every heap knows what it has
// out. A heap over something else names it as its upstream: counting<os_pages> is the same without the
// cache. Cost: the source's, once a chunk.
#pragma once

#include "mallard/source/cached_pages.hpp"
#include "mallard/source/counting.hpp"

namespace mallard {

using default_source = counting<cached_pages>;

}  // namespace mallard
