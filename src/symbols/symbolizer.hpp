// symbolizer: from addresses of one file to functions, source files and lines.
//
//     0x1234 --> units of the debug information --> scopes --> read()   source.hpp:7    (inlined)
//                                                              parse()  source.cpp:31
//            --> else the file's symbols        --> parse()
//            --> else its unwind table          --> "0x1200", where a function without a name begins
//            --> else nothing
//
// All addresses of one call are resolved together: each unit of the debug information that holds some is
// walked once. So ask once, with all of them. Costs about a microsecond an address in a stripped file; with
// debug information, mostly the reading of the units and of their line tables.
//
// To name a call by its return address, ask for the byte before: it belongs to the call, and what is behind
// it can already be another line, or another function.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace mallard::symbols {

// Why a file cannot name its addresses: one line for the user, without the file's path.
struct error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct source_frame {
  std::uint32_t function = 0;  // index into resolved::texts
  std::uint32_t file = 0;
  std::uint32_t line = 0;  // 0: unknown
};

struct resolved {
  std::vector<std::string> texts;     // the first is empty: unknown
  std::vector<source_frame> frames;   // innermost first; all of an address but its last are inlined
  std::vector<std::uint32_t> begins;  // of addresses[i]: frames begins[i] .. begins[i + 1]
};

class symbolizer {
 public:
  // `build_id` in lower-case hex, empty for a file without one; nothing: any build will do. Throws
  // symbols::error if the file is gone, is another build or is no program.
  symbolizer(const std::filesystem::path& path, std::optional<std::string_view> build_id);
  ~symbolizer();
  symbolizer(const symbolizer&) = delete;
  symbolizer& operator=(const symbolizer&) = delete;

  // In any order, as the file itself has them.
  [[nodiscard]] resolved resolve(std::span<const std::uint64_t> addresses);

 private:
  struct state;
  class request;
  std::unique_ptr<state> state_;
};

}  // namespace mallard::symbols
