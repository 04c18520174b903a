#include "recorder/launcher/recording_files.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "journal/drain/spool_copy.hpp"
#include "journal/spool/spool.hpp"
#include "mallard/journal/layout.hpp"

namespace mallard::recorder {
namespace fs = std::filesystem;
namespace {

constexpr char old_suffix[] = ".old";

// The name of a child's journal or spool: PID or PID.NUMBER, with the suffix of a spool or without.
bool is_childs(const std::string& name) {
  const std::string stem = name.ends_with(journal::spool_suffix)
                               ? name.substr(0, name.size() - (sizeof journal::spool_suffix - 1))
                               : name;
  return !stem.empty() && stem.find_first_not_of("0123456789.") == std::string::npos;
}

bool is_regular(const fs::path& path) {
  std::error_code unknown;
  return fs::is_regular_file(fs::status(path, unknown));
}

// Whether a recording made the file: the user may have one of that name.
bool is_ours(const fs::path& path) {
  if (!is_regular(path)) return false;
  if (journal::spool_copy::is_spool(path)) return true;
  std::array<unsigned char, journal::file_magic.size()> magic{};
  std::ifstream file(path, std::ios::binary);
  return file.read(reinterpret_cast<char*>(magic.data()), magic.size()) && magic == journal::file_magic;
}

std::vector<fs::path> children_in(const std::string& folder) {
  std::vector<fs::path> children;
  std::error_code ignored;
  for (const std::string& name : names_of_children(folder, ignored))
    if (const fs::path path = fs::path(folder) / name; is_ours(path)) children.push_back(path);
  return children;
}

void remove_children(const std::string& folder) {
  std::error_code ignored;
  for (const fs::path& child : children_in(folder)) fs::remove(child, ignored);
  fs::remove(folder, ignored);
}

void move_children(const std::string& from, const std::string& to) {
  const std::vector<fs::path> children = children_in(from);
  if (children.empty()) return;
  fs::create_directories(to);
  for (const fs::path& child : children) fs::rename(child, to / child.filename());
  std::error_code not_empty;
  fs::remove(from, not_empty);
}

// Removes the run before the last one, of which `old` is the journal's name.
void remove_older(const std::string& journal, const std::string& old) {
  for (const std::string& path : {old, old + journal::spool_suffix}) {
    std::error_code unknown;
    if (fs::symlink_status(path, unknown).type() == fs::file_type::not_found) continue;
    if (!is_ours(path))
      throw std::runtime_error("cannot keep the journal " + journal + " as " + old + ": " + path +
                               " exists and is none of a recording; name another file with -o");
    fs::remove(path);
  }
  remove_children(old + journal::children_suffix);
}

void move_run(const std::string& journal, const std::string& spool) try {
  const std::string folder = journal + journal::children_suffix;
  const bool has_journal = is_ours(journal);
  if (!has_journal && spool.empty()) {
    remove_children(folder);  // of a run whose journal is gone: no journal names them
    return;
  }
  const std::string old = journal + old_suffix;
  remove_older(journal, old);
  if (has_journal) fs::rename(journal, old);
  move_children(folder, old + journal::children_suffix);
  if (!spool.empty()) fs::rename(spool, old + journal::spool_suffix);
} catch (const fs::filesystem_error& problem) {
  throw std::runtime_error("cannot keep the journal " + journal + ": " + problem.code().message());
}

}  // namespace

std::string journal_path(const record_options& chosen, pid_t process) {
  return chosen.output.empty() ? "mallard." + std::to_string(process) + ".mlrd" : chosen.output;
}

std::string spool_path(const record_options& chosen, pid_t process) {
  return fs::absolute(journal_path(chosen, process)).string() + journal::spool_suffix;
}

std::vector<std::string> names_of_children(const std::string& folder, std::error_code& problem) {
  std::vector<std::string> names;
  for (fs::directory_iterator entry(folder, problem), end; !problem && entry != end; entry.increment(problem))
    if (std::string name = entry->path().filename().string(); is_childs(name))
      names.push_back(std::move(name));
  return names;
}

void require_replaceable(const std::string& journal) {
  std::error_code unknown;
  const auto size = is_regular(journal) ? fs::file_size(journal, unknown) : 0;
  if (!unknown && size != 0 && !is_ours(journal))
    throw std::runtime_error("cannot record into " + journal +
                             ": it exists and is no journal; name another file with -o");
}

void put_aside(const std::string& journal) { move_run(journal, ""); }

void put_aside_with_spool(const std::string& journal, const std::string& spool) {
  if (!journal::spool_copy::is_spool(spool))
    throw std::runtime_error("cannot record into " + journal + ": " + spool +
                             " exists and is none of a recording; name another file with -o");
  const int descriptor = open(spool.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return;  // it is gone by now
  const bool goes_on = flock(descriptor, LOCK_EX | LOCK_NB) != 0;
  struct stat locked{};
  struct stat present{};
  const bool is_it = fstat(descriptor, &locked) == 0 && stat(spool.c_str(), &present) == 0 &&
                     locked.st_dev == present.st_dev && locked.st_ino == present.st_ino;
  if (!goes_on && is_it) try {
      move_run(journal, spool);
    } catch (...) {
      close(descriptor);
      throw;
    }
  close(descriptor);
  if (goes_on)
    throw std::runtime_error("cannot record into " + journal +
                             ": another mallard-record is recording into it; name another file with -o");
}

}  // namespace mallard::recorder
