// compiler [--count] [--shift BYTES] FILE: compiles a program in a language like C to an assembler's text.
#include <string_view>

#include "programs/compiler/compile.hpp"
#include "programs/memory/run.hpp"

int main(int count, char** words) {
  using namespace mallard::programs;
  return run(count, words, [](region& all, std::string_view text) { compile(all, text); });
}
