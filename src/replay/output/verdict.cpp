#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "harness/bytes.hpp"
#include "replay/output/report.hpp"

namespace mallard::replay {
namespace {

std::string rounded(const char* format, double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

bool competes(const row& r) {
  return r.status == row_status::ok && r.measured() && !r.repeated && r.of->name != "none";
}

// The lowest warm median among the rows `fits` lets through.
template <class Fits>
const row* best_of(const std::vector<row>& rows, Fits fits) {
  const row* best = nullptr;
  for (const row& r : rows)
    if (competes(r) && fits(r) && (best == nullptr || r.warm().median < best->warm().median)) best = &r;
  return best;
}

std::string name_with_binding(const row& r) {
  return r.of->name + (r.of->bound == binding::malloc ? "" : " (" + std::string(name_of(r.of->bound)) + ")");
}

// "multipool (typed) takes 0.42 of the time of mimalloc and holds 0.90 of its memory"; on a littered heap,
// where either may need next to nothing: "... and needs 12 KiB beside the litter, the other 80 KiB".
std::string compare(const row& winner, const row& base, const report_input& in) {
  const double part = winner.warm().median / base.warm().median;
  std::string text = name_with_binding(winner) + " takes " +
                     (part < 0.005 ? "less than 0.01" : rounded("%.2f", part)) + " of the time of " +
                     name_with_binding(base);
  if (!winner.max_held || !base.max_held) return text;
  if (in.options.litter != 0)
    text += " and needs " + harness::format_bytes(*winner.max_held) + " beside the litter, the other " +
            harness::format_bytes(*base.max_held);
  else if (*base.max_held != 0)
    text += " and holds " +
            rounded("%.2f", static_cast<double>(*winner.max_held) / static_cast<double>(*base.max_held)) +
            " of its memory";
  return text;
}

// The name of what a strategy for many threads is made of, or is the like of, for one; empty: there is none.
std::string without_threads(const std::string& name) {
  for (const std::string_view before : {"synchronized_", "locked_", "threads/"})
    if (name.starts_with(before)) return name.substr(before.size());
  constexpr std::string_view foreign = ".sync_pool";
  if (name.ends_with(foreign)) return name.substr(0, name.size() - foreign.size()) + ".pool";
  return {};
}

// What safety among threads costs a program that has one: "One thread pays for safety among many: ..."; empty
// where nothing can be compared.
std::string price_of_threads(const std::vector<row>& rows) {
  std::string text;
  for (const row& base : rows) {
    std::string times;
    for (const row& r : rows)
      if (competes(r) && competes(base) && r.of->bound == base.of->bound && base.warm().median > 0 &&
          without_threads(r.of->name) == base.of->name)
        times += (times.empty() ? "" : ", ") + r.of->name + " " +
                 rounded("%.2f", r.warm().median / base.warm().median);
    if (!times.empty()) text += (text.empty() ? "" : "; ") + times + " of " + name_with_binding(base);
  }
  return text.empty() ? text
                      : "On one thread, strategies for many take these parts of the time: " + text + ".";
}

}  // namespace

const row* best_malloc(const std::vector<row>& rows) {
  return best_of(rows, [](const row& r) { return r.of->bound == binding::malloc; });
}

const row* glibc_of(const std::vector<row>& rows) {
  const auto found = std::ranges::find_if(
      rows, [](const row& r) { return is_over_glibc(*r.of) && !r.repeated && r.measured(); });
  return found == rows.end() ? nullptr : &*found;
}

const row* row_of(const std::vector<row>& rows, std::string_view label) {
  for (const row& r : rows)
    if (r.label() == label && r.measured()) return &r;
  return nullptr;
}

std::vector<std::string> verdict_of(const report_input& in) {
  if (in.facts.part.heaps != 0) return part_verdict_of(in);
  const row* const base = best_malloc(in.rows);
  if (base == nullptr) return {"No verdict: no malloc was measured to compare with."};

  std::vector<std::string> lines;
  for (const row& r : in.rows) {
    if (!r.repeated || !r.measured()) continue;
    const row* const first = row_of(in.rows, r.of->name);
    if (first != nullptr)
      lines.push_back("A/A: " + r.of->name + " measured a second time takes " +
                      rounded("%.2f", r.warm().median / first->warm().median) +
                      " of its own time; differences of that size mean nothing.");
  }

  if (const std::string price = price_of_threads(in.rows); !price.empty()) lines.push_back(price);

  const row* const glibc = glibc_of(in.rows);
  if (glibc == nullptr)
    lines.push_back("Best malloc: " + base->of->name + "; glibc was not measured.");
  else if (base == glibc)
    lines.push_back("Best malloc: " + glibc->of->name + ".");
  else if (harness::apart(base->warm().around, glibc->warm().around))
    lines.push_back("Best malloc: " + compare(*base, *glibc, in) + ".");
  else
    lines.push_back("Best malloc: " + base->of->name + "; glibc is as fast, within the spread.");

  const auto is_local = [](const row& r) { return r.of->bound != binding::malloc; };
  const row* const fastest = best_of(in.rows, is_local);
  if (fastest == nullptr) return lines;
  const auto gains = [base](const row& r) {
    return r.warm().median < base->warm().median && harness::apart(r.warm().around, base->warm().around);
  };
  if (!gains(*fastest)) {
    lines.push_back("Nothing to gain beyond the spread from any strategy other than " + base->of->name + ".");
    return lines;
  }
  const auto is_lean = [&](const row& r) {
    return is_local(r) && r.max_held && base->max_held &&
           static_cast<double>(*r.max_held) <= most_memory * static_cast<double>(*base->max_held);
  };
  lines.push_back("Fastest strategy: " + compare(*fastest, *base, in) + ".");
  const row* const lean = best_of(in.rows, is_lean);
  if (lean == fastest || in.options.litter != 0) return lines;  // parts of what is beside litter mean little
  if (lean != nullptr && gains(*lean))
    lines.push_back("Fastest within " + rounded("%.0f", 100 * most_memory) +
                    " % of that malloc's memory: " + compare(*lean, *base, in) + ".");
  else
    lines.push_back("Within " + rounded("%.0f", 100 * most_memory) +
                    " % of that malloc's memory there is nothing to gain beyond the spread.");
  return lines;
}

}  // namespace mallard::replay
