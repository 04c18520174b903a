#include "journal/merge.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>

#include "journal/binary/writer.hpp"
#include "journal/events/event_source.hpp"
#include "journal/open.hpp"

namespace mallard::journal {
namespace {

constexpr unsigned address_bits = 48;
constexpr std::uint64_t address_mask = (std::uint64_t{1} << address_bits) - 1;
constexpr std::uint64_t first_file_at = std::uint64_t{1} << 32;
constexpr std::uint64_t between_files = std::uint64_t{1} << 16;  // bytes that belong to none
constexpr std::uint64_t heard_every = 1 << 16;                   // events

// The files that any of the processes have mapped, each at one place.
class merged_modules {
 public:
  explicit merged_modules(writer& out) : out_(&out) {}

  // How far an address in the module is moved.
  std::uint64_t shift_of(const module_info& module) {
    const std::uint64_t size = module.end - module.begin;
    const auto [known, is_new] =
        begins_.try_emplace({module.path, module.build_id, module.begin - module.bias, size}, next_);
    const std::uint64_t begin = known->second;
    if (is_new) {
      next_ += (size + 2 * between_files - 1) / between_files * between_files;
      static_cast<void>(out_->add_module({.begin = begin,
                                          .end = begin + size,
                                          .bias = begin - (module.begin - module.bias),
                                          .path = module.path,
                                          .build_id = module.build_id}));
    }
    return begin - module.begin;
  }

 private:
  using identity = std::tuple<std::string, std::string, std::uint64_t, std::uint64_t>;

  writer* out_;
  std::map<identity, std::uint64_t> begins_;
  std::uint64_t next_ = first_file_at;
};

// What of the accounts adds up.
usage_sample sum(const usage_sample& a, const usage_sample& b) {
  return {.time = std::max(a.time, b.time),
          .cpu_ns = a.cpu_ns + b.cpu_ns,
          .recording_ns = a.recording_ns + b.recording_ns,
          .stalls = a.stalls + b.stalls,
          .stalled_ns = a.stalled_ns + b.stalled_ns};
}

// One of the journals, while its process runs.
class lane {
 public:
  lane(const std::filesystem::path& path, std::uint64_t number, std::uint64_t begin_ns, writer& out,
       merged_modules& modules)
      : source_(open(path)),
        tag_(number << address_bits),
        begin_ns_(begin_ns),
        out_(&out),
        modules_(&modules),
        name_(path.filename().string()) {
    read();
  }

  [[nodiscard]] bool is_at_end() const noexcept { return row_ == batch_.count(); }
  [[nodiscard]] std::uint64_t time() const noexcept { return ns(batch_.time[row_]); }

  // Takes events over as long as none is later than `limit`.
  void take_until(std::uint64_t limit) {
    while (!is_at_end() && time() <= limit) {
      append(row_);
      if (++row_ == batch_.count()) read();
    }
  }

  // After the end.
  void finish(usage_sample& total, std::vector<std::string>& warnings) {
    const process_tables& known = source_->tables();
    for (std::size_t i = 0; i < threads_.size(); ++i)
      out_->update_thread(threads_[i], row_of(known.threads[i]));
    if (!known.usage.empty()) {
      usage_sample last = known.usage.back();
      last.time = ns(last.time);
      total = sum(total, last);
    }
    for (const std::string& warning : source_->warnings()) warnings.push_back(name_ + ": " + warning);
  }

 private:
  void read() {
    row_ = 0;
    if (!source_->next(batch_)) batch_.resize(0);
    scale_ = tick_scale(1e9 / source_->about().ticks_per_second);
  }

  [[nodiscard]] std::uint64_t ns(std::uint64_t ticks) const noexcept { return begin_ns_ + scale_.ns(ticks); }

  [[nodiscard]] std::uint64_t tagged(std::uint64_t address) const noexcept {
    return address == 0 ? 0 : tag_ | (address & address_mask);
  }

  [[nodiscard]] thread_info row_of(const thread_info& from) const {
    thread_info row = from;
    row.start_time = ns(from.start_time);
    if (from.end_time != 0) row.end_time = ns(from.end_time);
    return row;
  }

  std::uint32_t thread(std::uint32_t index) {
    while (threads_.size() <= index)
      threads_.push_back(out_->add_thread(row_of(source_->tables().threads[threads_.size()])));
    return threads_[index];
  }

  // A context is written when an event first has it; by then its modules are known.
  std::uint32_t context(std::uint32_t index, std::uint64_t time) {
    const std::vector<context_node>& known = source_->tables().contexts;
    if (contexts_.size() < known.size()) contexts_.resize(known.size());
    missing_.clear();
    for (; index != 0 && !contexts_[index]; index = known[index].parent) missing_.push_back(index);
    std::uint32_t found = index == 0 ? 0 : *contexts_[index];
    for (auto next = missing_.rbegin(); next != missing_.rend(); ++next) {
      const context_node& node = known[*next];
      found = node.name != 0
                  ? out_->intern_scope(found, out_->intern_name(source_->tables().names[node.name]))
                  : out_->intern_context(found, place(node.return_address, time));
      if (node.stack_offset != 0) out_->set_stack_offset(found, node.stack_offset);
      contexts_[*next] = found;
    }
    return found;
  }

  // What is mapped nowhere stays the process's own.
  std::uint64_t place(std::uint64_t address, std::uint64_t time) {
    const module_info* found = nullptr;
    const auto rank = [time](const module_info& module) {
      return std::pair(module.load_time <= time, module.load_time);
    };
    for (const module_info& module : source_->tables().modules)
      if (module.begin < address && address <= module.end &&
          (found == nullptr || rank(module) >= rank(*found)))
        found = &module;
    return found == nullptr ? tagged(address) : address + modules_->shift_of(*found);
  }

  void append(std::size_t row) {
    const std::uint64_t duration = scale_.ns(batch_.duration[row]);
    out_->append({.kind = batch_.kind[row],
                  .thread = thread(batch_.thread[row]),
                  .context = context(batch_.context[row], batch_.time[row]),
                  .time = ns(batch_.time[row]),
                  .address = tagged(batch_.address[row]),
                  .size = batch_.size[row],
                  .alignment = batch_.alignment[row],
                  .old_address = tagged(batch_.old_address[row]),
                  .region = tagged(batch_.region[row]),
                  .parent = tagged(batch_.parent[row]),
                  .duration = batch_.duration[row] == 0 ? 0 : std::max<std::uint64_t>(1, duration)});
  }

  std::unique_ptr<event_source> source_;
  event_batch batch_;
  std::size_t row_ = 0;
  std::uint64_t tag_;
  std::uint64_t begin_ns_;
  tick_scale scale_{1};
  writer* out_;
  merged_modules* modules_;
  std::string name_;
  std::vector<std::uint32_t> threads_;                  // by the journal's index
  std::vector<std::optional<std::uint32_t>> contexts_;  // the same
  std::vector<std::uint32_t> missing_;
};

// What a journal says before its first events.
metadata opening_of(const std::filesystem::path& path) {
  const auto source = open(path);
  event_batch batch;
  source->next(batch);
  return source->about();
}

struct planned {
  std::filesystem::path path;
  std::uint64_t number = 0;
  std::uint64_t begin_ns = 0;  // since the first began
};

std::uint64_t append_all(const std::vector<planned>& plan, writer& out, usage_sample& total,
                         std::vector<std::string>& warnings, const std::function<void(double)>& heard) {
  merged_modules modules(out);
  const auto later = [](const std::unique_ptr<lane>& a, const std::unique_ptr<lane>& b) {
    return a->time() > b->time();
  };
  std::vector<std::unique_ptr<lane>> running;  // a heap: the one whose event is next is in front
  auto waiting = plan.begin();
  std::uint64_t heard_at = 0;
  std::size_t ended = 0;
  while (!running.empty() || waiting != plan.end()) {
    if (waiting != plan.end() && (running.empty() || waiting->begin_ns <= running.front()->time())) {
      running.push_back(
          std::make_unique<lane>(waiting->path, waiting->number, waiting->begin_ns, out, modules));
      ++waiting;
    } else {
      std::pop_heap(running.begin(), running.end(), later);
      std::uint64_t limit = waiting == plan.end() ? UINT64_MAX : waiting->begin_ns;
      if (running.size() > 1) limit = std::min(limit, running.front()->time());
      running.back()->take_until(limit);
    }
    if (running.back()->is_at_end()) {
      running.back()->finish(total, warnings);
      running.pop_back();
      ++ended;
    } else {
      std::push_heap(running.begin(), running.end(), later);
    }
    if (heard && out.events() >= heard_at) {
      heard(static_cast<double>(ended) / static_cast<double>(plan.size()));
      heard_at = out.events() + heard_every;
    }
  }
  return out.events();
}

}  // namespace

merged merge_journals(const std::vector<std::filesystem::path>& sources, const std::filesystem::path& to,
                      const std::function<void(double)>& heard) {
  if (sources.empty() || sources.size() > most_merged)
    throw error("1 to " + std::to_string(most_merged) + " journals can be merged");
  std::vector<planned> plan;
  metadata about;
  std::uint64_t first = UINT64_MAX;
  for (const std::filesystem::path& path : sources) {
    metadata own = opening_of(path);
    plan.push_back({path, plan.size() + 1, own.start_unix_ns});
    first = std::min(first, own.start_unix_ns);
    if (plan.size() == 1) about = std::move(own);
  }
  for (planned& one : plan) one.begin_ns -= first;
  std::sort(plan.begin(), plan.end(), [](const planned& a, const planned& b) {
    return std::pair(a.begin_ns, a.number) < std::pair(b.begin_ns, b.number);
  });
  about.start_unix_ns = first;
  about.ticks_per_second = 1e9;
  about.figures.clear();
  about.facts["processes"] = std::to_string(plan.size());
  merged result;
  usage_sample total;
  writer out(to);
  out.describe(about);
  result.events = append_all(plan, out, total, result.warnings, heard);
  out.add_usage(total);
  out.finish();
  return result;
}

}  // namespace mallard::journal
