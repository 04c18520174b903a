#include "recorder/counted_runs.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <ostream>
#include <stdexcept>
#include <utility>

#include "recorder/counter/counts.h"

namespace mallard::test {
namespace {

event_kind kind_of(enum counted_kind kind) {
#define MALLARD_NAME(name) #name,
  static constexpr const char* names[] = {MALLARD_COUNTED_KINDS(MALLARD_NAME)};
#undef MALLARD_NAME
  for (unsigned code = 0; code < 64; ++code)
    if (journal::name_of(static_cast<event_kind>(code)) == names[kind]) return static_cast<event_kind>(code);
  throw std::logic_error(std::string("a counted kind without an event: ") + names[kind]);
}

// Without `probes` malloc and as many free of every program that exec started.
counted_program read_counts(const std::filesystem::path& path, std::uint64_t probes) {
  struct counts read{};
  std::ifstream file(path, std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(&read), sizeof read))
    throw std::runtime_error("cannot read " + path.string());
  counted_program program{.name = std::filesystem::path(read.program).filename(), .of_kind = {}};
  if (read.forked == 0) {
    for (const auto kind : {counted_malloc, counted_free})
      read.of_kind[kind] -= std::min(read.of_kind[kind], probes);
  }
  for (int kind = 0; kind < counted_kinds; ++kind)
    if (read.of_kind[kind] != 0)
      program.of_kind[kind_of(static_cast<enum counted_kind>(kind))] = read.of_kind[kind];
  return program;
}

counted_program read_recorded(const std::filesystem::path& path) {
  const recorded r = read_journal(path);
  if (!r.complete) throw std::runtime_error(path.string() + " is not complete");
  return {.name = std::filesystem::weakly_canonical(r.about.program).filename(), .of_kind = count_kinds(r)};
}

// What the files of `folder` tell, as `read` reads them.
template <class Read>
std::vector<counted_program> read_all(const std::filesystem::path& folder, Read&& read) {
  std::vector<counted_program> programs;
  for (const std::filesystem::directory_entry& file : std::filesystem::directory_iterator(folder))
    if (counted_program one = read(file.path()); !one.of_kind.empty() && one.name != "mallard-record")
      programs.push_back(std::move(one));
  std::sort(programs.begin(), programs.end());
  return programs;
}

std::string without_recorder(const std::string& text) {
  static constexpr char own[] = "mallard-record: ";
  std::string kept;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    if (text.compare(begin, std::strlen(own), own) != 0) kept += text.substr(begin, end - begin);
    begin = end;
  }
  return kept;
}

}  // namespace

void PrintTo(const counted_program& program, std::ostream* out) {
  *out << program.name << " {";
  for (const auto& [kind, count] : program.of_kind) *out << ' ' << journal::name_of(kind) << ' ' << count;
  *out << " }";
}

counted_runs::counted_runs(std::vector<std::string> command, std::vector<std::string> variables)
    : command_(std::move(command)), variables_(std::move(variables)) {}

call_counts counted_runs::take(const std::string& library, const std::filesystem::path& counts,
                               const std::vector<std::string>& command, std::uint64_t probes) const {
  std::filesystem::create_directory(counts);
  std::vector<std::string> whole = {"env", "COUNTS_DIR=" + counts.string()};
  whole.insert(whole.end(), variables_.begin(), variables_.end());
  const std::vector<std::string> preloaded = with_preload(target(library), command);
  whole.insert(whole.end(), preloaded.begin(), preloaded.end());
  call_counts taken;
  taken.shown = run(whole);
  taken.by_counter = read_all(counts, [&](const auto& path) { return read_counts(path, probes); });
  return taken;
}

call_counts counted_runs::take_recorded(const std::string& library,
                                        const std::vector<std::string>& options) const {
  // Once in a program the recorder looks whether calls reach it, with a block that the counter sees.
  constexpr std::uint64_t probes = 1;
  const scratch_folder folder;
  const std::filesystem::path journals = folder / "j";
  std::filesystem::create_directory(journals);
  const std::filesystem::path journal = journals / "journal";
  call_counts taken = take(library, folder / "c", record_command(journal, command_, options), probes);
  taken.shown.err = without_recorder(taken.shown.err);
  const std::filesystem::path children = journal.string() + ".d";
  if (std::filesystem::exists(children)) {
    for (const std::filesystem::directory_entry& file : std::filesystem::directory_iterator(children))
      std::filesystem::rename(file.path(), journals / file.path().filename());
    std::filesystem::remove(children);
  }
  taken.by_recorder = read_all(journals, read_recorded);
  return taken;
}

run_result counted_runs::natively() const {
  const scratch_folder folder;
  return take("libnothing.so", folder / "c", command_, 0).shown;
}

call_counts counted_runs::counted() const {
  const scratch_folder folder;
  return take("libcounter.so", folder / "c", command_, 0);
}

call_counts counted_runs::recorded(const std::vector<std::string>& options) const {
  return take_recorded("libnothing.so", options);
}

call_counts counted_runs::recorded_and_counted(const std::vector<std::string>& options) const {
  return take_recorded("libcounter.so", options);
}

}  // namespace mallard::test
