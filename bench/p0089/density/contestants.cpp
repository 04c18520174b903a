#include <boost/container/pmr/monotonic_buffer_resource.hpp>
#include <boost/container/pmr/synchronized_pool_resource.hpp>
#include <boost/container/pmr/unsynchronized_pool_resource.hpp>
#include <memory_resource>

#include "mallard/heap/synchronized_multipool.hpp"
#include "mallard/resource/resource.hpp"
#include "p0089/density/density.hpp"
#include "p0089/density/ways.hpp"
#include "p0089/way/boost.hpp"

namespace mallard::p0089 {
namespace {

template <class Way, destruction End>
void run_typed(page& p) {
  measure_density_in(Way(), End, p);
}

template <class Maker, destruction End>
void run_pmr(page& p) {
  Maker maker;
  measure_density_in(pmr_way{&maker}, End, p);
}

// Resources that are no heaps of ours get their chunks from operator new; where it does not trim, a chunk
// that one structure gave back costs the next no page fault. So they are at their strongest.
const harness::foreign_malloc* untrimmed() { return harness::find_foreign_malloc("glibc-notrim"); }

template <class Way>
void add_typed(std::vector<contestant>& list, const char* strategy, const char* normal, const char* winkout) {
  list.push_back(
      {normal, strategy, binding::typed, destruction::normal, run_typed<Way, destruction::normal>});
  list.push_back(
      {winkout, strategy, binding::typed, destruction::winkout, run_typed<Way, destruction::winkout>});
}

template <class Resource>
void add_pmr(std::vector<contestant>& list, const char* strategy, const char* normal, const char* winkout,
             const harness::foreign_malloc* beneath = nullptr) {
  using maker = maker_of<Resource>;
  list.push_back(
      {normal, strategy, binding::pmr, destruction::normal, run_pmr<maker, destruction::normal>, beneath});
  list.push_back(
      {winkout, strategy, binding::pmr, destruction::winkout, run_pmr<maker, destruction::winkout>, beneath});
}

template <class Heap>
void add_heap(std::vector<contestant>& list, const char* strategy, std::array<const char*, 4> labels) {
  add_typed<typed_way<Heap>>(list, strategy, labels[0], labels[1]);
  add_pmr<resource<Heap>>(list, strategy, labels[2], labels[3]);
}

std::vector<contestant> all() {
  namespace boost_pmr = boost::container::pmr;
  std::vector<contestant> list{
      {"AS1", "glibc", binding::malloc, destruction::normal, run_typed<global_way, destruction::normal>,
       harness::find_foreign_malloc("glibc")},
      {"AS2", "new_delete", binding::pmr, destruction::normal,
       run_pmr<new_delete_maker, destruction::normal>},
  };
  add_heap<monotonic>(list, "monotonic", {"AS3", "AS4", "AS5", "AS6"});
  add_heap<multipool>(list, "multipool", {"AS7", "AS8", "AS9", "AS10"});
  add_heap<multipool_over_monotonic>(list, "multipool/monotonic", {"AS11", "AS12", "AS13", "AS14"});
  for (const harness::foreign_malloc& m : harness::foreign_mallocs().subspan(1))
    list.push_back({"", std::string(m.name), binding::malloc, destruction::normal,
                    run_typed<global_way, destruction::normal>, &m});
  add_pmr<std::pmr::monotonic_buffer_resource>(list, "std.monotonic", "", "", untrimmed());
  add_pmr<boost_resource<boost_pmr::monotonic_buffer_resource>>(list, "boost.monotonic", "", "", untrimmed());
  add_pmr<std::pmr::unsynchronized_pool_resource>(list, "std.pool", "", "", untrimmed());
  add_pmr<boost_resource<boost_pmr::unsynchronized_pool_resource>>(list, "boost.pool", "", "", untrimmed());
  add_pmr<std::pmr::synchronized_pool_resource>(list, "std.sync_pool", "", "", untrimmed());
  add_pmr<boost_resource<boost_pmr::synchronized_pool_resource>>(list, "boost.sync_pool", "", "",
                                                                 untrimmed());
  add_pmr<resource<synchronized_multipool>>(list, "synchronized_multipool", "", "");
  return list;
}

}  // namespace

std::span<const contestant> density_contestants() {
  static const std::vector<contestant> list = all();
  return list;
}

}  // namespace mallard::p0089
