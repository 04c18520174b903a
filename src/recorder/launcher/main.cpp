// mallard-record: runs a program and records every allocation of it into a journal.
#include <exception>
#include <variant>

#include "recorder/launcher/launch.hpp"
#include "recorder/launcher/options.hpp"
#include "recorder/launcher/program_file.hpp"
#include "recorder/launcher/tell.hpp"

namespace mallard::recorder {
namespace {

int run(int argc, char** argv) {
  const auto parsed = parse_options(argc, argv);
  if (const int* code = std::get_if<int>(&parsed)) return *code;
  const auto& chosen = std::get<options>(parsed);
  const program_file program = find_program(chosen.command.front());
  if (program.verdict != reach::recordable) {
    tell(explain(program, chosen.command.front()));
    return exit_code_of(program.verdict);
  }
  return launch(chosen, program);
}

}  // namespace
}  // namespace mallard::recorder

int main(int argc, char** argv) {
  try {
    return mallard::recorder::run(argc, argv);
  } catch (const std::exception& problem) {
    mallard::recorder::tell(problem.what());
    return 2;
  }
}
