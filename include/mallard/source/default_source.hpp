// default_source: what heaps stand on unless they are told otherwise.
//
//     heap --> default_source = counting< os_pages >
//
// Pages of the system, counted, so that every heap knows what it holds. A heap over something else names
// it as its upstream. Cost: the source's, once a chunk.
#pragma once

#include "mallard/source/counting.hpp"
#include "mallard/source/os_pages.hpp"

namespace mallard {

using default_source = counting<os_pages>;

}  // namespace mallard
