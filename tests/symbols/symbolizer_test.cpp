#include "symbols/symbolizer.hpp"

#include <gtest/gtest.h>
#include <stdio.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "scratch_folder.hpp"
#include "symbols/function_name.hpp"
#include "symbols/object_file.hpp"

namespace mallard::symbols {
namespace {

// What a shell command prints; it must succeed.
std::string output_of(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
  std::string text;
  char piece[4096];
  for (std::size_t size = 0; (size = fread(piece, 1, sizeof piece, pipe)) > 0;) text.append(piece, size);
  if (pclose(pipe) != 0) throw std::runtime_error("failed: " + command);
  return text;
}

std::string build_id_of(const std::filesystem::path& program) {
  return output_of(std::string(MALLARD_READELF) + " -n '" + program.string() +
                   "' | sed -n 's/.*Build ID: //p' | tr -d '\\n'");
}

struct marked_call {
  std::vector<std::string> functions;  // innermost first
  std::uint32_t line = 0;
  std::uint64_t address = 0;
};

// The program says itself which of its calls is where.
std::vector<marked_call> marked_calls(const std::string& program = MALLARD_ORDERS) {
  std::istringstream lines(output_of(program));
  std::vector<marked_call> calls;
  std::string label;
  marked_call call;
  while (lines >> label >> std::dec >> call.line >> std::hex >> call.address) {
    call.functions.clear();
    std::istringstream names(label);
    for (std::string name; std::getline(names, name, '|');) call.functions.push_back(name);
    if (call.address != 0) calls.push_back(call);
  }
  return calls;
}

// A copy in which nothing is left but what running needs; `options` are objcopy's.
std::filesystem::path stripped(const std::filesystem::path& to, const std::string& options = "") {
  output_of(std::string(MALLARD_OBJCOPY) + " --strip-all " + options + " " MALLARD_ORDERS " '" + to.string() +
            "'");
  return to;
}

struct frame {
  std::string function;
  std::string file;
  std::uint32_t line;
};

std::vector<std::vector<frame>> resolve(const std::filesystem::path& program,
                                        const std::vector<std::uint64_t>& addresses) {
  const resolved found = symbolizer(program, build_id_of(program)).resolve(addresses);
  std::vector<std::vector<frame>> all;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    all.emplace_back();
    for (std::uint32_t f = found.begins[i]; f < found.begins[i + 1]; ++f)
      all.back().push_back(
          {found.texts[found.frames[f].function], found.texts[found.frames[f].file], found.frames[f].line});
  }
  return all;
}

std::vector<std::uint64_t> addresses_of(const std::vector<marked_call>& calls) {
  std::vector<std::uint64_t> addresses;
  for (const marked_call& call : calls) addresses.push_back(call.address);
  return addresses;
}

// Without parameters, and with the anonymous namespace and lambdas as the marks have them.
std::string as_marked(std::string function) {
  for (const auto& [from, to] :
       {std::pair{"(anonymous namespace)", "(anonymous)"}, std::pair{"{lambda(char const*)#1}", "{lambda}"},
        std::pair{"$_0", "{lambda}"}}) {
    const std::size_t at = function.find(from);
    if (at != std::string::npos) function.replace(at, std::string_view(from).size(), to);
  }
  for (const std::string_view parameters : {"(char const*)", "(int const&)", "()", " const"}) {
    for (std::size_t at = 0; (at = function.find(parameters, at)) != std::string::npos;) {
      if (std::string_view(function).substr(0, at).ends_with("operator"))
        at += 2;
      else
        function.erase(at, parameters.size());
    }
  }
  return function;
}

std::string listed(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : "|") + name;
  return all;
}

void expect_marked(const std::vector<marked_call>& calls, const std::vector<std::vector<frame>>& found) {
  ASSERT_EQ(found.size(), calls.size());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    std::vector<std::string> names;
    for (const frame& f : found[i]) names.push_back(as_marked(f.function));
    EXPECT_EQ(listed(names), listed(calls[i].functions));
    ASSERT_FALSE(found[i].empty());
    EXPECT_EQ(found[i].front().line, calls[i].line) << listed(names);
    EXPECT_TRUE(found[i].front().file.ends_with("tests/symbols/targets/orders.cpp")) << found[i].front().file;
  }
}

TEST(symbolizer, names_calls_and_what_is_inlined) {
  for (const char* program : {MALLARD_ORDERS, MALLARD_ORDERS_DWARF_4}) {
    const auto calls = marked_calls(program);
    ASSERT_EQ(calls.size(), 9u);
    expect_marked(calls, resolve(program, addresses_of(calls)));
  }
}

TEST(symbolizer, answers_in_the_order_it_was_asked) {
  auto calls = marked_calls();
  std::reverse(calls.begin(), calls.end());
  calls.insert(calls.end(), {calls[2], calls[0], calls[2]});
  expect_marked(calls, resolve(MALLARD_ORDERS, addresses_of(calls)));
  EXPECT_TRUE(resolve(MALLARD_ORDERS, {}).empty());
}

TEST(symbolizer, knows_nothing_of_what_is_no_code) {
  for (const auto& frames : resolve(MALLARD_ORDERS, {0, 1, 0x7fffffffffff, ~std::uint64_t{0}}))
    EXPECT_TRUE(frames.empty()) << frames.front().function << frames.front().file;
}

// Every call of the program, most of them of the standard library's, beside what binutils say.
TEST(symbolizer, agrees_with_addr2line) {
  std::istringstream listing(output_of(MALLARD_OBJDUMP
                                       " -d --no-show-raw-insn " MALLARD_ORDERS_DWARF_4
                                       " | grep -A1 'call ' | grep -o '^ *[0-9a-f]*:' | tr -d ': '"));
  std::vector<std::uint64_t> addresses;
  for (std::uint64_t address = 0; listing >> std::hex >> address;) addresses.push_back(address - 1);
  ASSERT_GT(addresses.size(), 100u);

  const test::scratch_folder folder;
  {
    std::ofstream list(folder / "addresses");
    for (const std::uint64_t address : addresses) list << std::hex << address << '\n';
  }
  std::istringstream answers(output_of(MALLARD_ADDR2LINE " -a -i -f -e " MALLARD_ORDERS_DWARF_4 " <" +
                                       (folder / "addresses").string()));
  const auto found = resolve(MALLARD_ORDERS_DWARF_4, addresses);
  std::size_t compared = 0;
  std::string name;
  std::getline(answers, name);
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    ASSERT_TRUE(name.starts_with("0x"));
    std::size_t depth = 0;
    std::string place;
    while (std::getline(answers, name) && !name.starts_with("0x")) {
      std::getline(answers, place);
      if (name == "??" || place.starts_with("??")) continue;
      place = place.substr(0, place.find(" (discriminator"));
      ASSERT_LT(depth, found[i].size()) << std::hex << addresses[i];
      const frame& ours = found[i][depth++];
      if (!place.ends_with(":?")) {
        EXPECT_EQ(ours.file + ":" + std::to_string(ours.line), place);
      }
      // Where the debug information has only a short name, binutils name the function around it instead.
      name = demangle(name);
      EXPECT_TRUE(ours.function.ends_with(name) || name.starts_with(found[i].back().function))
          << ours.function << "\n"
          << name;
      ++compared;
    }
    if (depth > 0) {
      EXPECT_EQ(depth, found[i].size()) << std::hex << addresses[i];
    }
  }
  EXPECT_GT(compared, 200u);
}

TEST(symbolizer, finds_separate_debug_information) {
  const test::scratch_folder folder;
  const auto calls = marked_calls();
  const std::string debug = folder / "orders.debug";
  output_of(MALLARD_OBJCOPY " --only-keep-debug " MALLARD_ORDERS " '" + debug + "'");
  const auto program = stripped(folder / "program", "--add-gnu-debuglink='" + debug + "'");
  expect_marked(calls, resolve(program, addresses_of(calls)));
}

TEST(symbolizer, tells_where_functions_without_a_name_begin) {
  const test::scratch_folder folder;
  const auto calls = marked_calls();
  const auto found = resolve(stripped(folder / "bare"), addresses_of(calls));
  const auto by_name = resolve(MALLARD_ORDERS, addresses_of(calls));
  for (std::size_t i = 0; i < calls.size(); ++i) {
    ASSERT_EQ(found[i].size(), 1u);
    EXPECT_EQ(found[i][0].file, "");
    const std::uint64_t begin = std::stoull(found[i][0].function, nullptr, 16);
    EXPECT_LE(begin, calls[i].address);
    EXPECT_LT(calls[i].address - begin, 4096u);
    for (std::size_t other = 0; other < calls.size(); ++other)
      EXPECT_EQ(found[i][0].function == found[other][0].function,
                by_name[i].back().function == by_name[other].back().function);
  }
}

// What Fedora ships: only the symbols, packed, in a section of the program.
TEST(symbolizer, names_functions_by_packed_symbols) {
  const test::scratch_folder folder;
  const auto calls = marked_calls();
  const std::string symbols = folder / "symbols";
  output_of(MALLARD_OBJCOPY " --strip-debug " MALLARD_ORDERS " '" + symbols + "' && xz '" + symbols + "'");
  const auto program = stripped(folder / "program", "--add-section=.gnu_debugdata='" + symbols + ".xz'");
  const auto found = resolve(program, addresses_of(calls));
  for (std::size_t i = 0; i < calls.size(); ++i) {
    ASSERT_EQ(found[i].size(), 1u);
    EXPECT_EQ(as_marked(found[i][0].function), calls[i].functions.back());
    EXPECT_EQ(found[i][0].line, 0u);
  }
}

// A function whose symbol is missing does not get its neighbour's name.
TEST(symbolizer, keeps_names_to_their_functions) {
  const test::scratch_folder folder;
  const std::filesystem::path program = folder / "program";
  output_of(MALLARD_OBJCOPY " --strip-debug --strip-symbol=_ZN4shop10last_wordsEv " MALLARD_ORDERS " '" +
            program.string() + "'");
  for (const marked_call& call : marked_calls()) {
    const auto found = resolve(program, {call.address});
    ASSERT_EQ(found[0].size(), 1u);
    if (call.functions.back() == "shop::last_words") {
      EXPECT_TRUE(found[0][0].function.starts_with("0x")) << found[0][0].function;
    } else {
      EXPECT_EQ(as_marked(found[0][0].function), call.functions.back());
    }
  }
}

TEST(symbolizer, survives_files_that_were_cut) {
  const test::scratch_folder folder;
  const std::string whole = test::contents(MALLARD_ORDERS);
  const auto id = build_id_of(MALLARD_ORDERS);
  const auto addresses = addresses_of(marked_calls());
  std::size_t opened = 0;
  for (std::size_t size = 0; size < whole.size(); size += whole.size() / 97 + 1) {
    std::ofstream(folder / "cut", std::ios::binary).write(whole.data(), static_cast<std::streamsize>(size));
    try {
      symbolizer cut(folder / "cut", id);
      EXPECT_EQ(cut.resolve(addresses).begins.size(), addresses.size() + 1);
      ++opened;
    } catch (const error&) {
    }
  }
  EXPECT_GT(opened, 0u);
}

TEST(demangle, writes_a_name_as_the_source_has_it) {
  EXPECT_EQ(demangle("_ZN4shop12parse_ordersEi"), "shop::parse_orders(int)");
  EXPECT_EQ(demangle("_ZN4shop5shelfIiE3addERKi"), "shop::shelf<int>::add(int const&)");
}

TEST(demangle, leaves_out_what_copies_of_a_function_are_told_apart_by) {
  EXPECT_EQ(demangle("_ZN4shop12parse_ordersEi.constprop.0"), "shop::parse_orders(int)");
  EXPECT_EQ(demangle("_ZN4shop12parse_ordersEi.part.0.cold"), "shop::parse_orders(int)");
  EXPECT_EQ(demangle("grow.isra.0.cold"), "grow");
  EXPECT_EQ(demangle("read.llvm.1234567"), "read");
  EXPECT_EQ(demangle("memcpy@@GLIBC_2.14"), "memcpy");
  EXPECT_EQ(demangle("memcpy@GLIBC_2.2.5"), "memcpy");
}

TEST(demangle, keeps_what_only_looks_like_it) {
  EXPECT_EQ(demangle("main"), "main");
  EXPECT_EQ(demangle("runtime.mallocgc"), "runtime.mallocgc");
  EXPECT_EQ(demangle("print.partial"), "print.partial");
  EXPECT_EQ(demangle(".cold"), ".cold");
  EXPECT_EQ(demangle("_Zbroken"), "_Zbroken");
  EXPECT_EQ(demangle(""), "");
}

// Why the file is not opened; empty: it is.
std::string refusal(const std::filesystem::path& path, const std::string& build_id) {
  try {
    const object_file file(path, build_id);
    return {};
  } catch (const error& why) {
    return why.what();
  }
}

TEST(object_file, opens_the_build_that_was_asked_for) {
  EXPECT_EQ(refusal(MALLARD_ORDERS, build_id_of(MALLARD_ORDERS)), "");
  EXPECT_EQ(refusal(MALLARD_ORDERS_WITHOUT_BUILD_ID, ""), "");
}

TEST(object_file, refuses_another_build) {
  std::string other = build_id_of(MALLARD_ORDERS);
  other.back() = other.back() == '0' ? '1' : '0';
  EXPECT_EQ(refusal(MALLARD_ORDERS, other), "the file is of another build now");
  EXPECT_EQ(refusal(MALLARD_ORDERS, ""), "the file is of another build now");
  EXPECT_EQ(refusal(MALLARD_ORDERS_WITHOUT_BUILD_ID, other), "the file is of another build now");
}

TEST(object_file, refuses_what_is_no_program) {
  const test::scratch_folder folder;
  std::ofstream(folder / "text") << "no program\n";
  std::ofstream(folder / "empty").close();
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);  // opening it would wait for a writer
  EXPECT_EQ(refusal(folder / "missing", ""), "the file is gone");
  EXPECT_EQ(refusal("[vdso]", ""), "the file is gone");
  EXPECT_EQ(refusal((folder / "text").string() + " (deleted)", ""), "the file is gone");
  EXPECT_EQ(refusal(folder / "pipe", ""), "it is not a regular file");
  EXPECT_EQ(refusal(folder / ".", ""), "it is not a regular file");
  EXPECT_NE(refusal(folder / "text", "").find("cannot be read"), std::string::npos);
  EXPECT_NE(refusal(folder / "empty", "").find("cannot be read"), std::string::npos);
}

TEST(object_file, has_debug_information_where_the_file_has) {
  const test::scratch_folder folder;
  const auto id = build_id_of(MALLARD_ORDERS);
  EXPECT_NE(object_file(MALLARD_ORDERS, id).debug().dwarf, nullptr);
  EXPECT_EQ(object_file(stripped(folder / "bare"), id).debug().dwarf, nullptr);
}

}  // namespace
}  // namespace mallard::symbols
