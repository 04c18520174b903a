// mallard-record: runs a program and records every allocation of it into a journal.
#include <exception>
#include <variant>

#include "recorder/launcher/launch.hpp"
#include "recorder/launcher/options.hpp"
#include "recorder/launcher/program_file.hpp"
#include "recorder/launcher/tell.hpp"

int main(int argc, char** argv) {
  using namespace mallard::recorder;
  const auto parsed = parse_options(argc, argv);
  if (const int* code = std::get_if<int>(&parsed)) return *code;
  const options& chosen = std::get<options>(parsed);
  const program_file program = find_program(chosen.command.front());
  if (program.verdict != reach::recordable) {
    tell(explain(program, chosen.command.front()));
    return exit_code_of(program.verdict);
  }
  try {
    return launch(chosen, program);
  } catch (const std::exception& problem) {
    tell(problem.what());
    return 2;
  }
}
