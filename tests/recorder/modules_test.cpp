// The journal knows every module that calls came from, also what was loaded at run time.
#include <elf.h>
#include <gtest/gtest.h>
#include <link.h>
#include <signal.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "recorder/launcher/module_table.hpp"
#include "recorder/run_process.hpp"

namespace mallard::test {
namespace {

// Whether that is the build id that the linker wrote into a file.
bool is_build_id_of(const std::string& path, const std::string& id) {
  return run({"sh", "-c", "readelf -n '" + path + "' | grep -c 'Build ID: " + id + "$'"}).out == "1\n";
}

class modules : public testing::Test {
 protected:
  // The block that the plugin allocated has its caller in the plugin, which is listed once.
  void expect_plugin() {
    const recorded r = read_journal(journal_);
    ASSERT_EQ(count_kinds(r, 9999)[event_kind::malloc], 1u);
    std::uint64_t caller = 0;
    for (const journal::event& e : r.events)
      if (e.size == 9999) caller = r.tables.contexts.at(e.context).return_address;
    std::size_t found = 0;
    for (const journal::module_info& module : r.tables.modules) {
      if (caller < module.begin || caller >= module.end) continue;
      ++found;
      EXPECT_TRUE(std::filesystem::equivalent(module.path, plugin_)) << module.path;
      EXPECT_EQ(module.bias, module.begin);
      EXPECT_TRUE(is_build_id_of(plugin_, module.build_id)) << module.build_id;
    }
    EXPECT_EQ(found, 1u);
  }

  scratch_folder folder_;
  std::filesystem::path journal_ = folder_ / "journal";
  std::string plugin_ = target("libplugin.so");
};

TEST_F(modules, loaded_at_run_time_are_known_at_exit) {
  EXPECT_EQ(run(record_command(journal_, {target("load"), "once", plugin_})).status, 0);
  expect_plugin();
}

TEST_F(modules, loaded_at_run_time_are_known_of_a_killed_program) {
  running recorder(record_command(journal_, {target("load"), "once", plugin_}));
  recorder.wait_for_output("ready");
  kill(child_of(recorder.process()), SIGKILL);
  EXPECT_EQ(recorder.finish().status, 128 + SIGKILL);
  expect_plugin();
}

TEST_F(modules, loaded_by_a_relative_path_have_an_absolute_one) {
  const std::filesystem::path folder = std::filesystem::path(plugin_).parent_path();
  std::vector<std::string> command = record_command(journal_, {target("load"), "once", "./libplugin.so"});
  command.insert(command.begin(), {"env", "-C", folder});
  EXPECT_EQ(run(command).status, 0);
  expect_plugin();
}

TEST_F(modules, that_take_each_others_places_are_told_apart_by_time) {
  const std::string other = target("libother_plugin.so");
  ASSERT_EQ(run(record_command(journal_, {target("load"), "in_turn", "50", plugin_, other})).status, 0);
  const recorded r = read_journal(journal_);
  EXPECT_EQ(count_kinds(r, 9999)[event_kind::malloc], 50u);
  EXPECT_EQ(count_kinds(r, 8888)[event_kind::malloc], 50u);
  std::uint64_t misplaced = 0;
  std::map<std::uint64_t, std::set<std::uint64_t>> sizes_from;  // one caller, blocks of both plugins
  std::map<std::uint32_t, std::set<std::uint64_t>> sizes_in;    // one context
  for (const journal::event& e : r.events) {
    if (e.size != 9999 && e.size != 8888) continue;
    const std::uint64_t caller = r.tables.contexts.at(e.context).return_address;
    sizes_from[caller].insert(e.size);
    sizes_in[e.context].insert(e.size);
    std::vector<std::string> holders;
    for (const journal::module_info& module : r.tables.modules)
      if (module.begin <= caller && caller < module.end && module.load_time <= e.time &&
          (module.unload_time == 0 || e.time <= module.unload_time))
        holders.push_back(module.path);
    misplaced += holders != std::vector{e.size == 9999 ? plugin_ : other};
  }
  EXPECT_EQ(misplaced, 0u) << "of 100 callers";
  EXPECT_TRUE(std::any_of(sizes_from.begin(), sizes_from.end(), [](const auto& one) {
    return one.second.size() == 2;
  })) << "no plugin took the other's place";
  for (const auto& [context, sizes] : sizes_in) EXPECT_EQ(sizes.size(), 1u) << "context " << context;
}

TEST_F(modules, with_holes_between_their_segments_have_a_build_id_in_each) {
  const std::string program = target("deep_threads_with_holes");
  ASSERT_EQ(run(record_command(journal_, {program})).status, 0);
  std::size_t segments = 0;
  for (const journal::module_info& module : read_journal(journal_).tables.modules) {
    if (!std::filesystem::equivalent(module.path, program)) continue;
    ++segments;
    EXPECT_TRUE(is_build_id_of(program, module.build_id)) << module.build_id;
  }
  EXPECT_GE(segments, 2u) << "the program is in one piece";
}

// A file of one segment that is loaded.
void write_module(const std::filesystem::path& path, const char* magic, ElfW(Half) entry_size) {
  ElfW(Ehdr) header{};
  std::copy_n(magic, SELFMAG, header.e_ident);
  header.e_phoff = sizeof header;
  header.e_phentsize = entry_size;
  header.e_phnum = 1;
  ElfW(Phdr) segment{};
  segment.p_type = PT_LOAD;
  segment.p_vaddr = 0x2345;
  segment.p_align = 0;
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(&header), sizeof header);
  file.write(reinterpret_cast<const char*>(&segment), sizeof segment);
}

TEST_F(modules, a_bias_is_found_whatever_alignment_the_file_claims) {
  journal::module_info module{.begin = 0x7000'0000, .path = folder_ / "module"};
  write_module(module.path, ELFMAG, sizeof(ElfW(Phdr)));
  recorder::read_module_file(module);
  EXPECT_EQ(module.bias, 0x7000'0000U - 0x2000);
}

TEST_F(modules, files_that_are_no_modules_have_no_bias) {
  journal::module_info module{.begin = 0x7000'0000, .path = folder_ / "module"};
  write_module(module.path, "text", sizeof(ElfW(Phdr)));
  recorder::read_module_file(module);
  write_module(module.path, ELFMAG, 1);
  recorder::read_module_file(module);
  EXPECT_EQ(module.bias, 0U);
}

}  // namespace
}  // namespace mallard::test
