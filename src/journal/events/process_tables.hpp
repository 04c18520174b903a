// process_tables: what the numbers in events refer to.
//
//     event.thread  ---> threads[i]
//     event.context ---> contexts[i] ---> parent ---> parent ---> 0      (innermost frame first)
//                            |
//                            +-- return_address, inside one of modules
//
// A context is a node of the call tree: the frame with this return address, called from `parent`.
// contexts[0] and names[0] always exist and mean "unknown" and "none"; a parent's index is lower
// than its child's. A reader knows all that an event refers to when it delivers the event; the rest
// of a row (a thread's end, a module's unloading) may follow later.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mallard::journal {

struct context_node {
  std::uint32_t parent = 0;          // index of the calling frame's context; 0: the outermost known
  std::uint32_t name = 0;            // index into names: an annotated scope instead of a frame; 0: a frame
  std::uint64_t return_address = 0;  // 0 for an annotated scope
  std::uint64_t stack_offset = 0;  // bytes on the stack from this return address to the parent's; 0: unknown

  friend bool operator==(const context_node&, const context_node&) = default;
};

struct thread_info {
  std::uint64_t system_id = 0;   // the kernel's thread id, or the number an imported journal gave it
  std::uint64_t start_time = 0;  // ticks since recording began
  std::uint64_t end_time = 0;    // 0: it lived until the end
  std::string name{};

  friend bool operator==(const thread_info&, const thread_info&) = default;
};

struct module_info {
  std::uint64_t begin = 0;  // mapped addresses: [begin, end)
  std::uint64_t end = 0;
  std::uint64_t bias = 0;         // address minus bias is the address the file itself uses
  std::uint64_t load_time = 0;    // ticks since recording began, before all calls from it; 0: unknown
  std::uint64_t unload_time = 0;  // 0: mapped until the end
  std::string path{};
  std::string build_id{};  // hex, lower case; empty: it has none

  friend bool operator==(const module_info&, const module_info&) = default;
};

// Cumulative figures at one moment, taken periodically so that a killed process has them too.
struct usage_sample {
  std::uint64_t time = 0;          // ticks since recording began
  std::uint64_t cpu_ns = 0;        // CPU time of the process, the recording's share included
  std::uint64_t recording_ns = 0;  // the recording's estimated share of it; 0: not estimated
  std::uint64_t stalls = 0;        // times a thread waited for a full ring
  std::uint64_t stalled_ns = 0;    // how long, all threads together

  friend bool operator==(const usage_sample&, const usage_sample&) = default;
};

// A child that was recorded; or a program that ran in children, of the root or of others, without being
// recorded: then `journal` is empty, and `reason` says why.
struct child_info {
  std::uint64_t process = 0;    // 0: unknown, or several
  std::uint64_t time = 0;       // of its fork or spawn, ticks since recording began
  std::string journal{};        // file name of its journal, relative to this journal's folder; empty: none
  std::string program{};        // that was not recorded, as it was executed
  std::string reason{};         // one clause about the program
  std::uint64_t processes = 0;  // that ran it

  friend bool operator==(const child_info&, const child_info&) = default;
};

struct process_tables {
  std::vector<context_node> contexts = std::vector<context_node>(1);
  std::vector<thread_info> threads{};
  std::vector<module_info> modules{};
  std::vector<std::string> names = std::vector<std::string>(1);
  std::vector<usage_sample> usage{};
  std::vector<child_info> children{};
};

// Bytes as lower-case hexadecimal digits, the way build ids are written.
[[nodiscard]] inline std::string hexadecimal(std::string_view bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    text += digits[static_cast<unsigned char>(c) >> 4];
    text += digits[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

}  // namespace mallard::journal
