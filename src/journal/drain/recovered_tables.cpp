#include "journal/drain/recovered_tables.hpp"

#include <algorithm>
#include <utility>

#include "journal/drain/spool_description.hpp"

namespace mallard::journal {

recovered_tables::recovered_tables(process_tables known, std::uint64_t last_time)
    : tables_(std::move(known)), contexts_(tables_.contexts), last_time_(last_time) {
  for (std::size_t i = 0; i < tables_.threads.size(); ++i)
    threads_[tables_.threads[i].system_id] = static_cast<std::uint32_t>(i);
  for (std::size_t i = 1; i < tables_.names.size(); ++i)
    names_.emplace(tables_.names[i], static_cast<std::uint32_t>(i));
}

void recovered_tables::take_modules(spool_header* spool, const std::string& program) {
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
    if (module.path.empty()) module.path = program;
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
                                      std::uint64_t stack_offset) {
  const std::uint32_t context = contexts_.intern({.parent = parent, .return_address = return_address});
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

}  // namespace mallard::journal
