// merge: the journals of several processes as one, so that what reads a journal reads them all at once.
//
//     process 1   m . . f . . .          --+      in the order of time, on one clock
//     process 2         m . m f            +-->   m . . f m . m f ...
//     process 3   . f . . m              --+
//
// - Blocks of different processes never meet: an address becomes [process:16 | address:48].
// - A place in the code is the same in all processes that run the same file, wherever it is mapped: each file
//   gets one range of addresses, and a context of two processes is one.
// - Threads keep apart. Times are ns since the first process began. CPU times and stalls are sums.
// - What a process has not freed lives to the end of the whole, as nothing tells of its end.
// - Snapshots are left out, and so are the tables of children.
//
// Memory: what the writer keeps, and a batch for each process that runs at the moment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace mallard::journal {

inline constexpr std::size_t most_merged = 65'535;  // journals

struct merged {
  std::uint64_t events = 0;
  std::vector<std::string> warnings{};  // each with the name of its journal
};

// Writes the journals at `sources` to `to`; program, arguments and facts are those of the first. The fact
// `processes` says how many there are. `heard`, if it is not empty, is called now and then with the share
// that is done, 0..1, and may throw. Throws journal::error where a journal cannot be read, or there are too
// many.
merged merge_journals(const std::vector<std::filesystem::path>& sources, const std::filesystem::path& to,
                      const std::function<void(double)>& heard);

}  // namespace mallard::journal
