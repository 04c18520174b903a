// mallard-bench: one group of a benchmark in, its table's line as JSON out.

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>

#include "harness/terminal.hpp"
#include "program/arguments.hpp"
#include "program/group_session.hpp"

namespace {

namespace bench = mallard::bench;

int refuse(const std::string& what) {
  std::fprintf(stderr, "mallard-bench: %s\n", what.c_str());
  return 2;
}

int print(const std::string& text, int exit_code) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    return refuse("cannot write to standard output: " + std::string(std::strerror(errno)));
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], bench::worker_flag) == 0) bench::be_worker(argc, argv);
  try {
    int exit_code = 0;
    const auto asked = bench::parse_arguments(argc, argv, exit_code);
    if (!asked) return exit_code;
    if (asked->list_strategies) return print(bench::allocators_json(asked->asked.which), 0);
    if (asked->tell_machine) return print(bench::machine_json(), 0);
    mallard::harness::watch_for_interrupt();
    bench::group_session session(asked->asked, asked->options);
    session.run();
    return print(bench::to_json(session), session.was_interrupted() ? 130 : session.any_failed() ? 1 : 0);
  } catch (const std::exception& e) {
    return refuse(e.what());
  }
}
