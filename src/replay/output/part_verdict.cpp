#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/bytes.hpp"
#include "replay/output/report.hpp"
#include "replay/output/text_table.hpp"

namespace mallard::replay {
namespace {

// That of the malloc around the part alone; null where it was not measured, or the whole journal is replayed.
const row* reference_in(const report_input& in) {
  const auto is_it = [&in](const row& r) {
    return r.of->bound == binding::malloc && r.of->beneath == in.options.baseline && !r.repeated;
  };
  const auto found = std::ranges::find_if(in.rows, is_it);
  return in.options.baseline == nullptr || found == in.rows.end() ? nullptr : &*found;
}

std::string ns_of(double value) { return number(std::abs(value), 1); }

// "takes 12.0 ns less a block of the part than glibc (11.2 to 12.6), and 1.20 MiB more memory in all"
std::string compare(const row& r, const harness::summary& change, const report_input& in) {
  std::string text = r.of->name + " takes " + ns_of(change.median) + " ns less a block of the part than " +
                     std::string(in.options.baseline->name) + " (" + ns_of(change.around.high) + " to " +
                     ns_of(change.around.low) + ")";
  const std::optional<std::int64_t> held = held_change_of(r, in);
  if (!held) return text;
  if (*held == 0) return text + ", and as much memory";
  return text + ", and " + harness::format_bytes(static_cast<std::uint64_t>(std::abs(*held))) +
         (*held < 0 ? " less" : " more") + " memory in all";
}

}  // namespace

std::optional<harness::summary> change_of(const row& r, const report_input& in) {
  const row* const reference = reference_in(in);
  if (reference == nullptr || in.facts.part.blocks == 0 || r.of->name == "none") return std::nullopt;
  const double blocks_an_operation =
      static_cast<double>(in.facts.part.blocks) / static_cast<double>(in.facts.operations());
  std::vector<double> changes;
  for (std::size_t i = 0; i < std::min(r.warm_ns.size(), reference->warm_ns.size()); ++i)
    changes.push_back((r.warm_ns[i] - reference->warm_ns[i]) / blocks_an_operation);
  if (changes.empty()) return std::nullopt;
  return harness::summarise(changes);
}

std::optional<std::int64_t> held_change_of(const row& r, const report_input& in) {
  const row* const reference = reference_in(in);
  if (reference == nullptr || !reference->max_held || !r.max_held || r.of->name == "none")
    return std::nullopt;
  return static_cast<std::int64_t>(*r.max_held - *reference->max_held);
}

std::vector<std::string> part_verdict_of(const report_input& in) {
  const row* const reference = reference_in(in);
  const std::string around(in.options.baseline->name);
  if (reference == nullptr || !reference->measured())
    return {"No verdict: " + around + " was not measured to compare with."};

  std::vector<std::string> lines;
  harness::spread noise;
  const auto again = std::ranges::find_if(in.rows, [](const row& r) { return r.repeated; });
  if (const auto itself = again == in.rows.end() ? std::nullopt : change_of(*again, in)) {
    noise = itself->around;
    lines.push_back("A/A: " + around + " measured a second time differs from itself by " +
                    number(noise.low, 1) + " to " + number(noise.high, 1) +
                    " ns a block of the part; differences of that size mean nothing.");
  }

  const auto best = [&](auto fits) {
    const row* found = nullptr;
    for (const row& r : in.rows) {
      if (r.of->bound == binding::malloc) continue;
      const auto change = change_of(r, in);
      if (!change || change->around.high >= std::min(noise.low, 0.0) || !fits(r)) continue;
      if (found == nullptr || change->median < change_of(*found, in)->median) found = &r;
    }
    return found;
  };
  const row* const fastest = best([](const row&) { return true; });
  if (fastest == nullptr) {
    lines.push_back("Nothing to gain beyond the spread: leave the part to " + around + ".");
    return lines;
  }
  lines.push_back("Fastest: " + compare(*fastest, *change_of(*fastest, in), in) + ".");
  const row* const lean = best([&](const row& r) {
    const auto held = held_change_of(r, in);
    return held &&
           static_cast<double>(*held) <= (most_memory - 1) * static_cast<double>(*reference->max_held);
  });
  if (lean == fastest) return lines;
  const std::string within =
      "ithin " + number(100 * most_memory, 0) + " % of the memory of " + around + " alone";
  if (lean == nullptr)
    lines.push_back("W" + within + " there is nothing to gain beyond the spread.");
  else
    lines.push_back("Fastest w" + within + ": " + compare(*lean, *change_of(*lean, in), in) + ".");
  return lines;
}

}  // namespace mallard::replay
