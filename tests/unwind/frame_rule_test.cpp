// Rules equal what readelf reads from the same files: every row of every function of every module that
// this test has loaded, libc, libstdc++ and the loader among them.
#include "unwind/frame_rule.hpp"

#include <gtest/gtest.h>
#include <link.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "unwind/one_function_table.hpp"

namespace mallard::unwind {
namespace {

struct module {
  std::string file;
  std::uintptr_t base;
};

std::vector<module> loaded_modules() {
  std::vector<module> modules;
  const auto add = [](dl_phdr_info* info, std::size_t, void* data) {
    std::string file = info->dlpi_name;
    if (file.empty()) file = "/proc/self/exe";
    if (file[0] == '/') static_cast<std::vector<module>*>(data)->push_back({file, info->dlpi_addr});
    return 0;
  };
  dl_iterate_phdr(add, &modules);
  return modules;
}

struct reading {
  std::map<std::string, std::string> columns;  // "CFA", "rbp", "ra"
  bool is_signal_frame;
};

std::optional<std::int32_t> number_after(const std::string& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return std::nullopt;
  const char* first = text.data() + prefix.size();
  std::int32_t value = 0;
  first += *first == '+';
  if (std::from_chars(first, text.data() + text.size(), value).ec != std::errc()) return std::nullopt;
  return value;
}

// The rule that readelf's columns say. `unchanged` and `undefined` of bp look alike there.
frame_rule expected_rule(const reading& row) {
  const auto column = [&](const char* name) {
    const auto found = row.columns.find(name);
    return found == row.columns.end() ? std::string("u") : found->second;
  };
  if (column("ra") == "u") return frame_rule(frame_kind::outermost);
  const auto from_sp = number_after(column("CFA"), "rsp");
  const auto from_bp = number_after(column("CFA"), "rbp");
  if (column("CFA") != "exp" && !from_sp && !from_bp) return {};
  if (column("ra").starts_with("r")) return {};
  const bool is_plain = column("CFA") != "exp" && column("ra") == "c-8" && column("rsp") == "u";
  if (!is_plain || row.is_signal_frame) return frame_rule(frame_kind::expression);
  const frame_kind kind = from_sp ? frame_kind::sp : frame_kind::bp;
  const std::int32_t offset = from_sp ? *from_sp : *from_bp;
  if (const auto bp = number_after(column("rbp"), "c")) return {kind, offset, bp_from::cfa, *bp};
  if (column("rbp") == "u") return {kind, offset, bp_from::unchanged, 0};
  return frame_rule(frame_kind::expression);
}

frame_rule undefined_as_unchanged(frame_rule rule) {
  if (rule.caller_bp() != bp_from::undefined) return rule;
  return {rule.kind(), static_cast<std::int32_t>(rule.cfa_offset()), bp_from::unchanged, 0};
}

std::string text_of(frame_rule rule) {
  std::ostringstream out;
  out << "kind " << static_cast<int>(rule.kind()) << " cfa " << rule.cfa_offset() << " bp from "
      << static_cast<int>(rule.caller_bp()) << " at " << rule.bp_offset();
  return out.str();
}

struct comparison_counts {
  std::size_t rows = 0;
  std::size_t wrong = 0;
  std::map<frame_kind, std::size_t> kinds;
};

// Reads the output of readelf line by line and compares every row.
class comparison {
 public:
  comparison(const module& of, comparison_counts& counts) : module_(of), counts_(counts) {}

  void line(const std::string& text) {
    if (text.starts_with("Contents of the "))
      in_eh_frame_ = text.find(".eh_frame section") != std::string::npos;
    if (!in_eh_frame_) return;
    const std::vector<std::string> words = split(text);
    if (words.empty() || words[0] == "LOC") {
      if (words.empty()) end_record();
      names_ = words;
    } else if (words.size() > 4 && words[3] == "CIE") {
      is_fde_ = false;
      cie_name_ = words[0];
      cies_[cie_name_].is_signal_frame = words[4].find('S') != std::string::npos;
    } else if (words.size() > 5 && words[3] == "FDE") {
      begin_fde(words);
    } else if (words.size() == names_.size() && words[0].size() == 16) {
      row(words);
    }
  }

 private:
  static std::vector<std::string> split(const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    return words;
  }

  void begin_fde(const std::vector<std::string>& words) {
    is_fde_ = true;
    has_rows_ = false;
    cie_name_ = words[4].substr(4);
    const std::size_t dots = words[5].find("..");
    begin_ = std::stoull(words[5].substr(3), nullptr, 16);
    end_ = std::stoull(words[5].substr(dots + 2), nullptr, 16);
  }

  void row(const std::vector<std::string>& words) {
    reading& cie = cies_[cie_name_];
    reading read{{}, cie.is_signal_frame};
    for (std::size_t i = 1; i < words.size(); ++i) read.columns[names_[i]] = words[i];
    if (!is_fde_) {
      cie = read;
      return;
    }
    has_rows_ = true;
    compare_at(std::stoull(words[0], nullptr, 16), read);
  }

  // Of a function without rows of its own, readelf shows none: its CIE's holds.
  void end_record() {
    if (is_fde_ && !has_rows_) compare_at(begin_, cies_[cie_name_]);
    is_fde_ = false;
  }

  void compare_at(std::uintptr_t location, const reading& read) {
    if (location >= end_) return;  // a row that no instruction is left for
    const frame_rule found = undefined_as_unchanged(find_frame_rule(module_.base + location));
    const frame_rule expected = expected_rule(read);
    ++counts_.rows;
    ++counts_.kinds[found.kind()];
    if (found == expected || ++counts_.wrong > 20) return;
    ADD_FAILURE() << module_.file << " at " << std::hex << location << ": " << text_of(found)
                  << ", readelf: " << text_of(expected);
  }

  const module& module_;
  comparison_counts& counts_;
  bool in_eh_frame_ = false;
  bool is_fde_ = false;
  bool has_rows_ = false;
  std::uintptr_t begin_ = 0;
  std::uintptr_t end_ = 0;
  std::string cie_name_;
  std::map<std::string, reading> cies_;  // their first rows
  std::vector<std::string> names_;
};

void compare(const module& with, comparison_counts& counts) {
  const std::string file = with.file == "/proc/self/exe" ? MALLARD_THIS_TEST : with.file;
  const std::string command = "LC_ALL=C readelf -wNF " + file + " 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  comparison comparing(with, counts);
  std::array<char, 4096> line;
  while (std::fgets(line.data(), line.size(), pipe) != nullptr) comparing.line(line.data());
  EXPECT_EQ(pclose(pipe), 0) << command;
}

TEST(frame_rule, equals_readelf_in_every_row_of_every_module) {
  comparison_counts total;
  std::size_t modules = 0;
  for (const module& each : loaded_modules()) {
    comparison_counts counts;
    compare(each, counts);
    std::printf("%-50s %zu rows\n", each.file.c_str(), counts.rows);
    EXPECT_GT(counts.rows, 10u) << each.file;
    total.rows += counts.rows;
    total.wrong += counts.wrong;
    for (const auto& [kind, count] : counts.kinds) total.kinds[kind] += count;
    ++modules;
  }
  EXPECT_GE(modules, 4u);  // this test, libstdc++, libc, the loader
  EXPECT_EQ(total.wrong, 0u);
  EXPECT_GT(total.rows, 50'000u);
  for (const frame_kind kind :
       {frame_kind::outermost, frame_kind::sp, frame_kind::bp, frame_kind::expression})
    EXPECT_GT(total.kinds[kind], 0u) << "no row of kind " << static_cast<int>(kind);
}

// The rule in the middle of the one function of a handmade table.
frame_rule rule_of(const test::bytes& program, const char* augmentation = "zR") {
  const test::bytes table = test::one_function_table(augmentation, program);
  return find_frame_rule({table.data(), table.data(), table.data() + table.size()},
                         reinterpret_cast<std::uintptr_t>(table.data()) + 128);
}

TEST(frame_rule, is_packed_where_the_caller_is_as_a_call_left_it) {
  EXPECT_EQ(rule_of({}), frame_rule(frame_kind::sp, 8, bp_from::unchanged, 0));
  EXPECT_EQ(rule_of({0x86, 2, 0x0d, 6}), frame_rule(frame_kind::bp, 8, bp_from::cfa, -16));
  EXPECT_EQ(rule_of({0x07, 6}), frame_rule(frame_kind::sp, 8, bp_from::undefined, 0));
  EXPECT_EQ(rule_of({0x09, 6, 3}), frame_rule(frame_kind::sp, 8, bp_from::undefined, 0));
  EXPECT_EQ(rule_of({0x14, 7, 0}), frame_rule(frame_kind::sp, 8, bp_from::unchanged, 0));
  EXPECT_EQ(rule_of({0x0e, 0xff, 0xff, 0xff, 0xff, 0x07}).cfa_offset(), INT32_MAX);
}

TEST(frame_rule, is_an_expression_where_it_cannot_be_packed) {
  const frame_rule expression(frame_kind::expression);
  EXPECT_EQ(rule_of({}, "zRS"), expression);                                // below it, the pc is exact
  EXPECT_EQ(rule_of({0x14, 7, 1}), expression);                             // sp is not the CFA
  EXPECT_EQ(rule_of({0x87, 3}), expression);                                // sp is in memory
  EXPECT_EQ(rule_of({0x90, 2}), expression);                                // pc is elsewhere
  EXPECT_EQ(rule_of({0x0f, 2, 0x77, 8}), expression);                       // CFA is computed
  EXPECT_EQ(rule_of({0x10, 6, 2, 0x76, 0}), expression);                    // bp is
  EXPECT_EQ(rule_of({0x14, 6, 2}), expression);                             // bp is a CFA-relative value
  EXPECT_EQ(rule_of({0x0e, 0x80, 0x80, 0x80, 0x80, 0x08}), expression);     // too far for 32 bits
  EXPECT_EQ(rule_of({0x05, 6, 0x80, 0x80, 0x80, 0x80, 0x01}), expression);  // too far for 27
}

TEST(frame_rule, ends_a_walk) {
  EXPECT_EQ(rule_of({0x07, 16}).kind(), frame_kind::outermost);
  EXPECT_EQ(rule_of({0x08, 16}).kind(), frame_kind::unknown);     // a caller at the same pc
  EXPECT_EQ(rule_of({0x09, 16, 5}).kind(), frame_kind::unknown);  // pc in another register
  EXPECT_EQ(rule_of({0x0d, 10}).kind(), frame_kind::unknown);     // CFA from another register
  EXPECT_EQ(rule_of({0x3f}).kind(), frame_kind::unknown);         // no such instruction
  EXPECT_EQ(rule_of({}, "zQ").kind(), frame_kind::unknown);       // no such augmentation
}

TEST(frame_rule, keeps_what_is_packed) {
  for (const std::int32_t cfa : {0, 8, -8, 1 << 20, INT32_MAX, INT32_MIN}) {
    for (const std::int32_t bp : {0, -16, 8, (1 << 26) - 8, -(1 << 26)}) {
      const frame_rule rule(frame_kind::bp, cfa, bp_from::cfa, bp);
      EXPECT_EQ(rule.kind(), frame_kind::bp);
      EXPECT_EQ(rule.caller_bp(), bp_from::cfa);
      EXPECT_EQ(rule.cfa_offset(), cfa);
      EXPECT_EQ(rule.bp_offset(), bp);
    }
  }
}

TEST(frame_rule, is_unknown_outside_of_modules) {
  const std::string heap(100, ' ');
  EXPECT_EQ(find_frame_rule(0).kind(), frame_kind::unknown);
  EXPECT_EQ(find_frame_rule(reinterpret_cast<std::uintptr_t>(heap.data())).kind(), frame_kind::unknown);
  EXPECT_EQ(find_frame_rule(~std::uintptr_t{0}).kind(), frame_kind::unknown);
}

}  // namespace
}  // namespace mallard::unwind
