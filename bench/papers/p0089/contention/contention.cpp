#include "p0089/contention/contention.hpp"

#include <sched.h>

#include <nlohmann/json.hpp>

#include "common/race.hpp"

namespace mallard::bench {
namespace {

int cores_to_run_on() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  return ::sched_getaffinity(0, sizeof(allowed), &allowed) == 0 ? CPU_COUNT(&allowed) : 0;
}

}  // namespace

nlohmann::ordered_json group_of(const contention_setting& asked) {
  return {{"iterations", asked.iterations}, {"block", asked.block}, {"threads", asked.threads}};
}

nlohmann::ordered_json method_of(const contention_setting& asked) {
  const int cores = cores_to_run_on();
  return {
      {"threads", std::to_string(asked.threads) + " on " + std::to_string(cores) +
                      " cores, started together; a pass of each is 2^N pairs"},
      {"cores", cores},
      {"heaps",
       "private to a thread and new in each pass: monotonic, multipool, multipool/monotonic, "
       "std. and boost.monotonic, std. and boost.pool; all others are one heap of all threads"},
      {"times",
       "ns_per_event: CPU time of all threads, wall_ns_per_event: from the first start to the "
       "last end, both by the pairs of all threads"},
      {"cold", "the first pass of each thread, after threads that did nothing; warm: passes of at least " +
                   std::to_string(least_cpu_ns / 1'000'000) + " ms of CPU time a thread, after a second"},
      {"failed_locks",
       "the share of lock attempts of the whole turn that found the lock taken, of heaps "
       "of ours; counting is part of the time"}};
}

std::uint64_t bytes_needed(const contention_setting& asked) {
  return asked.threads * (stack_of_thread + (std::uint64_t{2} << asked.block));
}

void run_pairs(pmr_binding::life& life, std::uint64_t pairs, std::size_t size) {
  run_pairs<pmr_binding::life>(life, pairs, size);
}

}  // namespace mallard::bench
