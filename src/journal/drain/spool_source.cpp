#include "journal/drain/spool_source.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "journal/drain/spool_description.hpp"

namespace mallard::journal {
namespace {

constexpr std::uint64_t batch_records = std::uint64_t{1} << 15;

}  // namespace

recovered_tables::recovered_tables(process_tables known, std::uint64_t last_time)
    : tables_(std::move(known)), contexts_(tables_.contexts), last_time_(last_time) {
  for (std::size_t i = 0; i < tables_.threads.size(); ++i)
    threads_[tables_.threads[i].system_id] = static_cast<std::uint32_t>(i);
  for (std::size_t i = 1; i < tables_.names.size(); ++i)
    names_.emplace(tables_.names[i], static_cast<std::uint32_t>(i));
}

void recovered_tables::take_modules(spool_header* spool, const metadata& about) {
  spool_modules list(spool, spool->modules_tail);
  module_info module;
  while (list.next(module)) {
    const auto same_place = std::find_if(tables_.modules.rbegin(), tables_.modules.rend(),
                                         [&](const module_info& m) { return m.begin == module.begin; });
    const bool is_there = same_place != tables_.modules.rend();
    if (module.end == 0) {
      if (is_there) same_place->unload_time = module.load_time;
      continue;
    }
    complete_path(module, about);
    const bool is_same = is_there && same_place->path == module.path &&
                         same_place->build_id == module.build_id &&
                         (same_place->unload_time == 0 || same_place->load_time == module.load_time);
    if (is_same) continue;
    tables_.modules.push_back(module);
  }
}

std::uint32_t recovered_tables::add_thread(const thread_info& info) {
  const auto known = threads_.find(info.system_id);
  if (known != threads_.end()) {
    const thread_info& row = tables_.threads[known->second];
    if (row.end_time == 0 || info.start_time <= row.end_time) return known->second;
  }
  const auto index = static_cast<std::uint32_t>(tables_.threads.size());
  tables_.threads.push_back(info);
  threads_[info.system_id] = index;
  return index;
}

void recovered_tables::update_thread(std::uint32_t index, const thread_info& info) {
  tables_.threads[index].end_time = info.end_time;
}

std::uint32_t recovered_tables::frame(std::uint32_t parent, std::uint64_t return_address,
                                      std::uint64_t stack_offset, std::uint64_t time) {
  const auto generation = std::ranges::count_if(tables_.modules, [=](const module_info& m) {
    return m.begin <= return_address && return_address < m.end && m.unload_time != 0 && m.unload_time <= time;
  });
  const std::uint32_t context = contexts_.intern({.parent = parent, .return_address = return_address},
                                                 static_cast<std::uint32_t>(generation));
  if (context >= tables_.contexts.size()) contexts_.nodes()[context].stack_offset = stack_offset;
  return context;
}

std::uint32_t recovered_tables::scope(std::uint32_t parent, std::string_view name) {
  std::uint32_t index = 0;
  if (!name.empty()) {
    index =
        names_.try_emplace(std::string(name), static_cast<std::uint32_t>(tables_.names.size())).first->second;
    if (index == tables_.names.size()) tables_.names.emplace_back(name);
  }
  return contexts_.intern({.parent = parent, .name = index});
}

void recovered_tables::append(const event& e) {
  if (e.thread >= tables_.threads.size())
    tables_.threads.resize(e.thread + 1);  // nobody said whose ring it is
  push(*batch_, e);
  // An event that was stamped long before it was published comes behind those that were not.
  batch_->time.back() = last_time_ = std::max(last_time_, e.time);
}

void recovered_tables::complete() {
  const std::vector<context_node>& nodes = contexts_.nodes();
  const auto known = static_cast<std::ptrdiff_t>(tables_.contexts.size());
  tables_.contexts.insert(tables_.contexts.end(), nodes.begin() + known, nodes.end());
}

spool_source::spool_source(std::unique_ptr<binary_source> journal, spool_copy spool, std::string name)
    : journal_(std::move(journal)),
      spool_(std::move(spool)),
      name_(std::move(name)),
      reader_(spool_.header(), spool_.options(), known_, spool_reader<recovered_tables>::start::at_tails) {
  if (!journal_) go_on_with_spool();
}

void spool_source::watch(section_type type, table_receiver receive) {
  if (journal_) journal_->watch(type, std::move(receive));
}

bool spool_source::next(event_batch& batch) {
  if (journal_) {
    if (journal_->next(batch)) {
      last_time_ = std::max(last_time_, *std::max_element(batch.time.begin(), batch.time.end()));
      return true;
    }
    go_on_with_spool();
  }
  batch.resize(0);
  known_.fill(batch);
  batch.first = passed_;
  while (batch.count() == 0 && reader_.collect(UINT64_MAX, UINT64_MAX, batch_records) != 0) {
  }
  known_.complete();
  passed_ += batch.count();
  recovered_ += batch.count();
  if (batch.count() != 0) return true;
  finish();
  return false;
}

void spool_source::go_on_with_spool() {
  const spool_header& spool = *spool_.header();
  if (journal_) {
    known_ = recovered_tables(journal_->tables(), last_time_);
    about_ = journal_->about();
    warnings_ = journal_->warnings();
    had_end_ = journal_->complete();
    passed_ = journal_->passed();
    journal_.reset();
  } else {
    about_ = describe_process(spool_.header());
  }
  const double rate = spool.ticks_per_second;
  if (!had_end_ && std::isfinite(rate) && rate > 0) about_.ticks_per_second = rate;
  known_.take_modules(spool_.header(), about_);
}

void spool_source::finish() {
  if (std::exchange(finished_, true)) return;
  complete_ = had_end_ && recovered_ == 0 && !spool_.in_progress();
  if (complete_) return;
  std::uint64_t stalls = 0;
  std::uint64_t stalled = 0;
  std::uint64_t sampled = 0;
  for (const ring_reader& ring : reader_.rings()) {
    stalls += ring.stalls();
    stalled += ring.stalled_ticks();
    sampled += ring.sampled_ticks();
  }
  const auto to_ns = [this](std::uint64_t ticks) {
    const double ns = static_cast<double>(ticks) * 1e9 / about_.ticks_per_second;
    return ns < 1e19 ? static_cast<std::uint64_t>(ns) : 0;  // more can only be damage
  };
  const usage_sample before = known_.get().usage.empty() ? usage_sample{} : known_.get().usage.back();
  const std::uint64_t end_cpu = spool_.header()->end_cpu_ns;  // of the process, all its programs
  const std::uint64_t earlier = spool_.header()->cpu_before_ns;
  const bool has_end = end_cpu > earlier;  // else both figures are of the last sample's moment
  known_.add_usage({.time = known_.last_time(),
                    .cpu_ns = has_end ? std::max(before.cpu_ns, end_cpu - earlier) : before.cpu_ns,
                    .recording_ns = has_end ? to_ns(sampled * timed_every) : before.recording_ns,
                    .stalls = stalls,
                    .stalled_ns = to_ns(stalled)});
  if (!had_end_)
    for (child_info& program : unrecorded_programs(spool_.header())) known_.add_child(std::move(program));
  warnings_.push_back(explanation());
}

std::string spool_source::explanation() const {
  const std::string events = std::to_string(recovered_) + " events ";
  const std::string lost =
      reader_.damaged() ? "; a part of it is overwritten, and what stood there is lost" : "";
  if (spool_.in_progress()) return "the recording is going on: " + events + "are read from " + name_ + lost;
  const char* how = spool_.header()->left_alone != 0 ? "the program outlived mallard-record: "
                                                     : "the recording was cut off: ";
  return how + events + "are recovered from " + name_ + lost;
}

}  // namespace mallard::journal
