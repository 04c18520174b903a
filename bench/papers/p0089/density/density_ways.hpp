// The ways that benchmark I is compiled for, one source a way: each means a dozen containers twice over.
#pragma once

#include "contest/contestant.hpp"
#include "contest/page.hpp"
#include "contest/way/global.hpp"
#include "contest/way/pmr.hpp"
#include "contest/way/typed.hpp"
#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/multipool.hpp"

namespace mallard::bench {

void measure_density_in(global_way way, destruction end, page& p);
void measure_density_in(typed_way<monotonic> way, destruction end, page& p);
void measure_density_in(typed_way<multipool> way, destruction end, page& p);
void measure_density_in(typed_way<multipool_over_monotonic> way, destruction end, page& p);
void measure_density_in(pmr_way way, destruction end, page& p);

}  // namespace mallard::bench
