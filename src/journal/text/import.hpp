// import: the binary form of what others write.
//
//     trace.rep.xz --> csapp_source --> writer --> trace.mlrd
//
// Everything that the source says is kept: events, threads, times, and facts of what is made up. The fact
// `imported_from` names the file. Where the source is cut off or damaged, the journal is one without its
// end, up to there. Memory: one batch, and what the writer keeps.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace mallard::journal {

enum class import_form { text, csapp };

struct imported {
  std::uint64_t events = 0;
  std::vector<std::string> warnings{};
};

// Writes `to` anew. `heard`, if it is not empty, is called now and then with the share that is done, 0..1,
// and may throw. Whatever is thrown, journal::error from here, no file is left behind half written at `to`; a
// pipe or a device stays.
imported import_journal(const std::filesystem::path& source, import_form form,
                        const std::filesystem::path& to, const std::function<void(double)>& heard);

}  // namespace mallard::journal
