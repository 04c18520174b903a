#include "footprint/held_by.hpp"

#include <algorithm>
#include <new>
#include <vector>

#include "harness/launcher.hpp"
#include "harness/mapping.hpp"
#include "harness/memory_meter.hpp"
#include "harness/session.hpp"
#include "replay/allocator/strategy.hpp"
#include "replay/run/job.hpp"
#include "replay/session/replay_worker.hpp"

namespace mallard::footprint {

held_figures held_by(std::string_view strategy, const replay::trace& t) {
  const auto all = replay::strategies();
  const auto chosen = std::ranges::find(all, strategy, &replay::strategy::name);
  if (t.facts().max_align > chosen->most_align) return {0, 0, "it does not serve the journal's alignments"};

  const harness::shared_file page(sizeof(replay::job));
  replay::job& task = *::new (page.data()) replay::job(replay::job_kind::footprint);
  task.memory_limit = harness::available_memory();
  const auto index = static_cast<std::size_t>(chosen - all.begin());
  const harness::outcome end = harness::launch(harness::worker_plan(
      replay::worker_arguments(index, t.descriptor(), page.descriptor()), chosen->beneath));
  if (!end.clean()) return {0, 0, harness::describe(end)};
  if (task.state != harness::work_state::done) return {0, 0, task.reason.data()};
  return {task.max_held, task.held_after, {}};
}

}  // namespace mallard::footprint
