// The command line of mallard-record, and the library in the program's place: which malloc it stands before,
// and what it adds to the program.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "recorder/run_process.hpp"

namespace mallard::test {
namespace {

TEST(preload, another_preloaded_malloc_serves_the_program) {
  const scratch_folder folder;
  const auto journal = folder / "journal";
  const run_result result =
      run(with_preload(target("libother_malloc.so"), record_command(journal, {target("blocks"), "few"})));
  EXPECT_EQ(result.status, 10) << result.err;
  const recorded r = read_journal(journal);
  auto counts = count_kinds(r);
  EXPECT_EQ(counts[event_kind::malloc], 1u);  // the ones inside calloc and realloc are not the program's
  EXPECT_EQ(counts[event_kind::calloc], 1u);
  EXPECT_EQ(counts[event_kind::realloc], 1u);
  EXPECT_EQ(counts[event_kind::free], 1u);
  EXPECT_EQ(r.events.size(), 4u);
}

TEST(preload, the_program_reads_what_dlerror_has_to_say) {
  const scratch_folder folder;
  const auto command = record_command(folder / "journal", {target("every_operator"), "after_error"});
  EXPECT_EQ(run(command).status, 0);
}

TEST(preload, the_environment_keeps_what_was_preloaded) {
  const scratch_folder folder;
  const std::string library = target("libother_malloc.so");
  const auto command = record_command(folder / "journal", {"sh", "-c", "echo $LD_PRELOAD"});
  EXPECT_EQ(run(with_preload(library, command)).out, library + "\n");
}

TEST(preload, needs_libc_alone_and_shows_nothing_but_the_entry_points) {
  const run_result needed = run({"sh", "-c", "readelf -d '" + preload_library() + "' | grep NEEDED"});
  EXPECT_NE(needed.out.find("[libc.so.6]"), std::string::npos) << needed.out;
  EXPECT_EQ(std::count(needed.out.begin(), needed.out.end(), '\n'), 1) << needed.out;

  const run_result shown = run({"nm", "-D", "--defined-only", "--format=posix", preload_library()});
  std::istringstream lines(shown.out);
  std::string line;
  std::set<std::string> names;
  std::size_t operators = 0;
  while (std::getline(lines, line)) {
    if (line.starts_with("_Zn") || line.starts_with("_Zd"))
      ++operators;
    else
      names.insert(line.substr(0, line.find(' ')));
  }
  EXPECT_EQ(operators, 8u + 12u);  // every form of new and delete
  const std::set<std::string> entry_points = {
      "malloc",
      "calloc",
      "realloc",
      "reallocarray",
      "free",
      "free_sized",
      "free_aligned_sized",
      "posix_memalign",
      "aligned_alloc",
      "memalign",
      "valloc",
      "pvalloc",
      "longjmp",
      "_longjmp",
      "siglongjmp",
      "__longjmp_chk",
      "mallard_record_annotations",
      "apr_pool_create_ex",
      "apr_pool_create_ex_debug",
      "apr_pool_create_core_ex",
      "apr_pool_create_core_ex_debug",
      "apr_pool_create_unmanaged_ex",
      "apr_pool_create_unmanaged_ex_debug",
      "apr_palloc",
      "apr_palloc_debug",
      "apr_pcalloc",
      "apr_pcalloc_debug",
      "apr_pvsprintf",
      "apr_pool_clear",
      "apr_pool_clear_debug",
      "apr_pool_destroy",
      "apr_pool_destroy_debug",
      "_talloc",
      "talloc_named_const",
      "_talloc_zero",
      "_talloc_array",
      "_talloc_zero_array",
      "_talloc_memdup",
      "_talloc_pooled_object",
      "talloc_pool",
      "talloc_strdup",
      "talloc_strndup",
      "talloc_vasprintf",
      "talloc_asprintf",
      "talloc_named",
      "talloc_init",
      "_talloc_realloc",
      "_talloc_realloc_array",
      "talloc_realloc_fn",
      "_talloc_free",
      "talloc_unlink",
      "talloc_free_children",
      "_talloc_steal_loc",
      "talloc_reparent",
      "_obstack_begin",
      "_obstack_begin_1",
      "_obstack_newchunk",
      "obstack_free",
      "_obstack_free",
      "execve",
      "execv",
      "execvpe",
      "execvp",
      "execl",
      "execlp",
      "execle",
      "fexecve",
      "execveat",
      "posix_spawn",
      "posix_spawnp",
      "popen",
      "system",
      "_exit",
      "_Exit",
      "dlclose",
      "dlopen",
      "prctl",
      "syscall",
  };
  EXPECT_EQ(names, entry_points);
}

TEST(options, help_and_version_are_no_recording) {
  const run_result help = run({recorder(), "--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_NE(help.out.find("Usage: mallard-record [OPTIONS] [--] PROGRAM [ARGUMENTS...]"), std::string::npos);
  EXPECT_EQ(run({recorder(), "-h"}).out, help.out);
  const run_result version = run({recorder(), "--version"});
  EXPECT_EQ(version.status, 0);
  EXPECT_EQ(version.out.rfind("mallard-record ", 0), 0u);
}

TEST(options, mistakes_get_one_line_and_exit_code_2) {
  const std::vector<std::vector<std::string>> mistakes = {
      {},
      {"--"},
      {"--no-such-option", "true"},
      {"--buffer", "1", "true"},
      {"--buffer", "lots", "true"},
      {"--stack", "x", "true"},
      {"--depth", "0", "true"},
      {"--depth", "2049", "true"},
      {"--depth", "x", "true"},
      {"--witness", "--stack", "none", "true"},
      {"-o"},
      {"-o", "-", "true"},
  };
  for (const auto& mistake : mistakes) {
    std::vector<std::string> command = {recorder()};
    command.insert(command.end(), mistake.begin(), mistake.end());
    const run_result result = run(command);
    EXPECT_EQ(result.status, 2);
    EXPECT_EQ(result.err.rfind("mallard-record: ", 0), 0u) << result.err;
    EXPECT_EQ(result.err.find('\n'), result.err.size() - 1) << result.err;
  }
}

TEST(options, mistaken_values_are_told_with_what_they_must_be) {
  EXPECT_EQ(run({recorder(), "--stack", "all", "true"}).err,
            "mallard-record: --stack: must be full, caller or none, not all\n");
  EXPECT_EQ(run({recorder(), "--buffer", "lots", "true"}).err,
            "mallard-record: --buffer: must be a size in bytes, such as 64k or 1m, not lots\n");
}

TEST(options, a_depth_from_1_to_2048_is_taken_as_the_help_says) {
  EXPECT_NE(run({recorder(), "--help"}).out.find("1 to 2048"), std::string::npos);
  const scratch_folder folder;
  for (const char* depth : {"1", "2048"})
    EXPECT_EQ(run(record_command(folder / "journal", {"true"}, {"--depth", depth})).status, 0) << depth;
}

TEST(options, the_programs_own_options_are_left_to_it) {
  const scratch_folder folder;
  const run_result result = run(
      {recorder(), "-o", folder / "journal", "sh", "-c", "echo \"$@\"", "sh", "-o", "--help", "--", "-x"});
  EXPECT_EQ(result.out, "-o --help -- -x\n");
}

TEST(options, without_a_name_the_journal_is_named_after_the_process) {
  const scratch_folder folder;
  const run_result result =
      run({"sh", "-c", "cd \"$1\" && exec \"$2\" sh -c 'echo $$'", "sh", folder / "", recorder()});
  const std::string process = result.out.substr(0, result.out.find('\n'));
  EXPECT_EQ(folder.names(), std::vector<std::string>{"mallard." + process + ".mlrd"});
}

}  // namespace
}  // namespace mallard::test
