// interpreter [--count] FILE: runs a program of the small language.
#include <string_view>

#include "programs/interpreter/evaluator.hpp"
#include "programs/interpreter/script_tree.hpp"
#include "programs/memory/run_program.hpp"

int main(int count, char** words) {
  using namespace mallard::programs;
  return run_program(count, words, [](region& all, std::string_view text) {
    script parsed(all, text);
    region first(all);
    evaluator().run(parsed.main(), first);
  });
}
