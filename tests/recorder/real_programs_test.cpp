// Programs of Debian's, recorded: their output is their own, and every free has its allocation.
#include <gtest/gtest.h>

#include "recorder/run_process.hpp"

namespace mallard::test {
namespace {

struct real_program {
  const char* name;
  std::vector<std::string> command;
  std::size_t at_least;  // events
};

class real_programs : public testing::TestWithParam<real_program> {};

TEST_P(real_programs, run_as_unrecorded_and_their_journals_make_sense) {
  const scratch_folder folder;
  const run_result plain = run(GetParam().command);
  const run_result result = run(record_command(folder / "journal", GetParam().command));
  EXPECT_EQ(result.status, plain.status);
  EXPECT_EQ(result.out, plain.out);
  const recorded r = read_journal(folder / "journal");
  EXPECT_GE(r.events.size(), GetParam().at_least);
  EXPECT_EQ(count_contradictions(r), 0u);
  EXPECT_TRUE(r.complete);
}

INSTANTIATE_TEST_SUITE_P(
    , real_programs,
    testing::Values(
        real_program{"perl",
                     {"perl", "-e",
                      "my %h; for my $i (1..20000) { $h{$i % 977} .= chr(65 + $i % 26) } "
                      "print join(',', map { $_ . $h{$_} } sort keys %h), qq(\\n); exit 3"},
                     5000},
        real_program{
            "perl_with_modules",
            {"perl", "-MPOSIX", "-MData::Dumper", "-e",
             "$Data::Dumper::Sortkeys = 1; print Dumper({a => [1 .. 500], b => strftime('%Y', gmtime 0)})"},
            5000},
        real_program{"sort", {"sh", "-c", "exec sort -r /etc/passwd /etc/group"}, 0},
        real_program{"sort_directly", {"sort", "-r", "/etc/passwd", "/etc/group"}, 10},
        real_program{"compiler_driver", {"c++", "-E", "-dM", "-x", "c++", "/dev/null"}, 100}),
    [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace mallard::test
