#include "p0089/locality/locality.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>

namespace mallard::bench {
namespace {

using json = nlohmann::ordered_json;

std::string_view name_of(run_part part) {
  switch (part) {
    case run_part::build:
      return "build";
    case run_part::shuffle:
      return "shuffle";
    case run_part::access:
      return "access";
    case run_part::total:
      return "total";
  }
  return "";
}

constexpr std::int64_t largest_exponent = 40;
constexpr std::uint64_t most_links = std::uint64_t{1} << largest_exponent;
constexpr std::int64_t most_times = 1 << 20;

// Or more than most_links.
std::uint64_t power_of_ten(std::uint32_t exponent) {
  std::uint64_t power = 1;
  for (; exponent != 0 && power <= most_links; --exponent) power *= 10;
  return power;
}

// Subsystems are of one size: what does not fill another one is not made.
std::uint64_t links_made(const locality_run& asked) {
  return asked.global / asked.subsystem * asked.subsystem;
}

constexpr std::string_view blanks = " \t";

// A number with or without a sign; takes it off the front.
std::optional<std::int64_t> take_number(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  std::string_view word = text.substr(0, text.find_first_of(blanks));
  text.remove_prefix(word.size());
  if (word.starts_with('+')) {
    word.remove_prefix(1);
    if (word.starts_with('-')) return std::nullopt;
  }
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (word.empty() || error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return number;
}

bool is_within(std::int64_t least, std::int64_t number, std::int64_t most) {
  return least <= number && number <= most;
}

}  // namespace

std::optional<locality_run> parse_run(std::string_view text) {
  std::array<std::int64_t, 5> numbers{};
  for (std::int64_t& n : numbers) {
    const std::optional<std::int64_t> number = take_number(text);
    if (!number) return std::nullopt;
    n = *number;
  }
  if (text.find_first_not_of(blanks) != text.npos) return std::nullopt;
  auto [global, subsystem, access, shuffle, repeat] = numbers;
  if (global < 0) {
    if (!is_within(-largest_exponent, global, 0) || !is_within(0, subsystem, -global)) return std::nullopt;
    global = std::int64_t{1} << -global;
    subsystem = std::int64_t{1} << subsystem;
  }
  if (!is_within(1, global, std::int64_t{most_links}) || !is_within(1, subsystem, global) ||
      !is_within(0, access, most_times) || !is_within(-most_times, shuffle, most_times) ||
      !is_within(0, repeat, most_times))
    return std::nullopt;
  const auto count = [](std::int64_t n) { return static_cast<std::uint64_t>(n); };
  return locality_run{count(global), count(subsystem), count(access), count(std::abs(shuffle)),
                      count(repeat), shuffle < 0};
}

extent extent_of(const locality_setting& asked) {
  switch (asked.table) {
    case locality_table::splits:
      return {std::uint64_t{1} << asked.global, std::uint64_t{1} << asked.subsystem};
    case locality_table::factors:
      return {power_of_ten(asked.global), power_of_ten(asked.subsystem)};
    case locality_table::run:
      return {links_made(asked.run), asked.run.subsystem};
  }
  return {1, 1};
}

json group_of(const locality_setting& asked) {
  switch (asked.table) {
    case locality_table::splits:
      return {{"table", "splits"},
              {"global", asked.global},
              {"subsystem", asked.subsystem},
              {"shuffles", asked.shuffles},
              {"product", asked.product}};
    case locality_table::factors:
      return {{"table", "factors"},
              {"global", asked.global},
              {"subsystem", asked.subsystem},
              {"shuffles", asked.shuffles},
              {"access", factors_walks}};
    case locality_table::run:
      return {{"table", "run"},
              {"global", asked.run.global},
              {"subsystem", asked.run.subsystem},
              {"access", asked.run.access},
              {"shuffles", asked.run.shuffle},
              {"repeat", asked.run.repeat},
              {"access_first", asked.run.access_first}};
  }
  return {};
}

std::vector<json> figures_of(const locality_setting& asked) {
  std::vector<json> figures;
  switch (asked.table) {
    case locality_table::splits:
      for (const bool shuffled : {false, true})
        for (std::uint32_t i = 0; i <= asked.product; ++i)
          figures.push_back({{"split", i}, {"shuffled", shuffled}});
      break;
    case locality_table::factors:
      for (std::uint32_t i = 0; i <= asked.shuffles; ++i) figures.push_back({{"factor", i}});
      break;
    case locality_table::run:
      for (const run_part part : run_parts)
        figures.push_back({{"part", name_of(part)}, {"events", events_of(part, asked.run)}});
      break;
  }
  return figures;
}

json method_of(const locality_setting& asked) {
  json method{{"time", "CPU time of the worker's thread"},
              {"access", "a step to the next link, whose number is read and added up; nothing is written"}};
  if (asked.table == locality_table::run) return method;
  method["net"] =
      "less the time of as many visits without a walk, to the subsystems whose turn is next; at least 0";
  method["cold"] = "the first walk over the subsystems after they were built or shuffled";
  method["accesses"] = asked.accesses;
  method["visits"] =
      "subsystems in turn, as many as those accesses allow, a figure's beginning where the last one's ended; "
      "where a visit has more, its first walk and some later ones, which stand for the rest";
  return method;
}

std::string fault_of(const locality_setting& asked) {
  const extent of = extent_of(asked);
  if (of.subsystem > of.global) return "a subsystem is larger than the whole";
  if (of.global > most_links) return "more than 2^40 links";
  if (const std::size_t figures = figures_of(asked).size(); figures > most_figures)
    return std::to_string(figures) + " figures; a group has " + std::to_string(most_figures) + " at most";
  return {};
}

std::uint64_t events_of(run_part part, const locality_run& asked) {
  switch (part) {
    case run_part::build:
      return links_made(asked);
    case run_part::shuffle:
      return asked.shuffle * links_made(asked);
    case run_part::access:
      return std::max<std::uint64_t>(asked.access * asked.repeat * links_made(asked), 1);
    case run_part::total:
      return 1;
  }
  return 1;
}

// Links of 24 bytes: in 32 of malloc's, or in a pool's chunks, of which a sixteenth is over. A multipool of
// one link is a page and 1.5 KiB of its own; other resources get less than a page from malloc.
std::uint64_t bytes_needed(const locality_setting& asked, const measured_allocator& c) {
  const extent of = extent_of(asked);
  const std::uint64_t subsystems = of.global / of.subsystem;
  if (c.bound == binding::malloc) return of.global * (link_bytes + 8) + subsystems * 80;
  const bool takes_pages = c.beneath == nullptr;
  return of.global * link_bytes * 17 / 16 + subsystems * (takes_pages ? 5632 : 2048);
}

std::unique_ptr<whole_system<owned_pmr_binding>> measure_locality(owned_pmr_binding& binding, page& p) {
  return measure_locality<owned_pmr_binding>(binding, p);
}

}  // namespace mallard::bench
