// parsed_arguments: the result of a program's command line: what was asked for, or the exit code and what
// was said.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mallard::test {

template <class Command>
struct parsed_arguments {
  std::optional<Command> asked;
  int exit_code = 0;
  std::string complaint;
};

// Parse: (argc, argv, exit code) -> std::optional of a command.
template <class Parse>
auto parsed(Parse parse, std::string_view program, std::vector<std::string> arguments) {
  using asked = decltype(parse(0, nullptr, std::declval<int&>()));
  arguments.insert(arguments.begin(), std::string(program));
  std::vector<char*> argv;
  for (std::string& a : arguments) argv.push_back(a.data());
  parsed_arguments<typename asked::value_type> result;
  ::testing::internal::CaptureStderr();
  result.asked = parse(static_cast<int>(argv.size()), argv.data(), result.exit_code);
  result.complaint = ::testing::internal::GetCapturedStderr();
  return result;
}

// What was said of arguments that mean nothing: one line, of the program, and exit code 2.
template <class Parse>
std::string complaint(Parse parse, std::string_view program, std::vector<std::string> arguments) {
  const auto refused = parsed(parse, program, std::move(arguments));
  EXPECT_FALSE(refused.asked);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_TRUE(refused.complaint.starts_with(std::string(program) + ": ")) << refused.complaint;
  EXPECT_EQ(std::ranges::count(refused.complaint, '\n'), 1) << refused.complaint;
  return refused.complaint;
}

}  // namespace mallard::test
