// The ring of modules, around its end, given back and written over.
#include "journal/drain/spool_description.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string_view>

#include "journal/drain/memory_spool.hpp"

namespace mallard::journal {
namespace {

class listing : public testing::Test {
 protected:
  // As a program lists a module.
  void put(std::uint64_t begin, std::string_view path, std::string_view id) {
    const module_entry entry{.time = 9,
                             .begin = begin,
                             .end = begin + 10,
                             .bias = 1,
                             .path_bytes = static_cast<std::uint32_t>(path.size()),
                             .build_id_bytes = static_cast<std::uint32_t>(id.size())};
    std::string bytes(reinterpret_cast<const char*>(&entry), sizeof entry);
    bytes.append(path).append(id);
    bytes.resize((bytes.size() + 7) / 8 * 8);
    std::uint64_t head = header_->modules_head;
    for (const char c : bytes) modules_of(header_)[head++ % module_ring_bytes] = c;
    header_->modules_head = head;
  }

  test::memory_spool spool_{smallest_ring};
  spool_header* header_ = spool_.header();
  spool_modules list_{header_};
};

TEST_F(listing, goes_around_the_end_of_the_ring) {
  const std::string path = "/lib/" + std::string(5000, 'x');
  module_info module;
  for (std::uint64_t i = 1; i < 200; ++i) {
    put(16 * i, path, "\x0f\xa0");
    ASSERT_TRUE(list_.next(module)) << i;
    EXPECT_EQ(module, (module_info{.begin = 16 * i,
                                   .end = 16 * i + 10,
                                   .bias = 1,
                                   .load_time = 9,
                                   .path = path,
                                   .build_id = "0fa0"}));
    EXPECT_FALSE(list_.next(module));
    EXPECT_GT(list_.bytes_held(), 5000u);
    list_.announce();
    list_.give_back();
    EXPECT_EQ(list_.bytes_held(), 0u);
    EXPECT_EQ(header_->modules_tail, header_->modules_head);
  }
}

TEST_F(listing, ends_where_it_was_written_over) {
  put(16, "/lib/a.so", "");
  put(32, "/lib/b.so", "");
  const std::uint32_t too_long = 100'000;
  std::memcpy(modules_of(header_) + 56 + offsetof(module_entry, path_bytes), &too_long, sizeof too_long);
  module_info module;
  EXPECT_TRUE(list_.next(module));
  EXPECT_FALSE(list_.next(module));
  EXPECT_FALSE(list_.next(module));
  header_->modules_head = UINT64_MAX;
  EXPECT_FALSE(list_.next(module));
}

}  // namespace
}  // namespace mallard::journal
