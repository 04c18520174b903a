// What code in another shared object, compiled to hide its symbols, sees of the process.
#include "thread/thread_table_elsewhere.hpp"

#include "mallard/core/attributes.hpp"

namespace mallard {

MALLARD_VISIBLE seen_elsewhere see_elsewhere() {
  return {&ends_mutex, &this_threads_table, thread_table::new_key()};
}

}  // namespace mallard
