#include "p0089/contention/contention_pairs.hpp"

namespace mallard::bench {

void run_pairs(pmr_way::life& life, std::uint64_t pairs, std::size_t size) {
  run_pairs<pmr_way::life>(life, pairs, size);
}

}  // namespace mallard::bench
