// The ways that benchmark I is compiled for, one source a way: each means a dozen containers twice over.
#pragma once

#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/multipool.hpp"
#include "p0089/contestant.hpp"
#include "p0089/page.hpp"
#include "p0089/way/global.hpp"
#include "p0089/way/pmr.hpp"
#include "p0089/way/typed.hpp"

namespace mallard::p0089 {

void measure_density_in(global_way way, destruction end, page& p);
void measure_density_in(typed_way<monotonic> way, destruction end, page& p);
void measure_density_in(typed_way<multipool> way, destruction end, page& p);
void measure_density_in(typed_way<multipool_over_monotonic> way, destruction end, page& p);
void measure_density_in(pmr_way way, destruction end, page& p);

}  // namespace mallard::p0089
