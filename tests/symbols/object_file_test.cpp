#include "symbols/object_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "scratch_folder.hpp"
#include "symbols/orders.hpp"
#include "symbols/symbolizer.hpp"

namespace mallard::symbols {
namespace {

using test::build_id_of;

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
  EXPECT_EQ(object_file(test::stripped(folder / "bare"), id).debug().dwarf, nullptr);
}

}  // namespace
}  // namespace mallard::symbols
