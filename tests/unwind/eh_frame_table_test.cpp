// The table of an address, and the bounds of its reading, are those of the program headers.
//
// Broken tables are read without harm: copies of this test's own .eh_frame_hdr and .eh_frame with bits
// flipped, bytes overwritten, ends cut off. Addresses in them count from their place, so a copy tells of
// the same functions, moved by the same distance.
#include "unwind/eh_frame_table.hpp"

#include <gtest/gtest.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "slow_tests.hpp"
#include "unwind/frame_rule.hpp"

namespace mallard::unwind {
namespace {

std::uintptr_t address_of(const void* place) { return reinterpret_cast<std::uintptr_t>(place); }

// A module's table from its header on, in memory of exactly its size, where a sanitizer sees every step
// beyond it.
class copied_table {
 public:
  explicit copied_table(const eh_frame_table& original)
      : original_(original),
        bytes_(original.header, original.end),
        moved_by_(address_of(bytes_.data()) - address_of(original.header)) {}

  [[nodiscard]] eh_frame_table table() const {
    return {bytes_.data(), bytes_.data(), bytes_.data() + bytes_.size()};
  }

  [[nodiscard]] std::uintptr_t moved(std::uintptr_t pc) const { return pc + moved_by_; }
  std::vector<std::uint8_t>& bytes() { return bytes_; }
  void mend() { std::copy(original_.header, original_.end, bytes_.begin()); }

 private:
  eh_frame_table original_;
  std::vector<std::uint8_t> bytes_;
  std::uintptr_t moved_by_;
};

class whole_table : public testing::Test {
 protected:
  static eh_frame_table own_table() {
    eh_frame_table table{};
    EXPECT_TRUE(find_table(address_of(reinterpret_cast<const void*>(&own_table)), table));
    return table;
  }

  // The beginnings of functions that the table knows of, found by asking around this test's code.
  static std::vector<std::uintptr_t> known_functions() {
    std::vector<std::uintptr_t> found;
    const std::uintptr_t here = address_of(reinterpret_cast<const void*>(&own_table));
    for (std::uintptr_t pc = here - 20'000; pc < here + 20'000; pc += 50) {
      frame_description function;
      if (find_description(own_table(), pc, function)) found.push_back(function.function_begin);
    }
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

  // Whatever is said of broken bytes: it is said.
  void read_all() {
    std::uintptr_t words[64] = {};
    const stack_range stack{address_of(words), address_of(words + 64)};
    for (const std::uintptr_t function : functions_) {
      const std::uintptr_t pc = copy_.moved(function + random_() % 64);
      read_ += find_frame_rule(copy_.table(), pc).kind() != frame_kind::unknown;
      frame_step step;
      const frame_registers frame{pc, stack.begin + 64, stack.begin + 128, true};
      if (step_by_expression(copy_.table(), frame, stack, step)) {
        EXPECT_LE(step.read_count, frame_step::max_reads);
      }
    }
  }

  std::mt19937 random_{20'000};
  std::vector<std::uintptr_t> functions_ = known_functions();
  copied_table copy_{own_table()};
  std::size_t read_ = 0;
};

class broken_tables : public whole_table {};

TEST_F(whole_table, is_read_wherever_it_is) {
  ASSERT_GT(functions_.size(), 50u);
  for (const std::uintptr_t function : functions_) {
    const frame_rule rule = find_frame_rule(function);
    EXPECT_NE(rule.kind(), frame_kind::unknown);
    EXPECT_EQ(find_frame_rule(copy_.table(), copy_.moved(function)), rule);
  }
}

TEST_F(whole_table, ends_each_function_where_it_ends) {
  for (const std::uintptr_t function : functions_) {
    frame_description found;
    frame_description next;
    ASSERT_TRUE(find_description(own_table(), function, found));
    EXPECT_TRUE(find_description(own_table(), found.function_end - 1, next));
    EXPECT_EQ(next.function_begin, function);
    if (find_description(own_table(), found.function_end, next)) {
      EXPECT_EQ(next.function_begin, found.function_end);
    }
  }
}

TEST_F(broken_tables, with_flipped_bits) {
  for (int round = 0; round < (test::slow_tests ? 3000 : 500); ++round) {
    for (int flips = round % 2 == 0 ? 10 : 1000; flips > 0; --flips) {
      const std::size_t place = random_() % copy_.bytes().size();
      copy_.bytes()[place] ^= static_cast<std::uint8_t>(1u << random_() % 8);
    }
    read_all();
    if (round % 8 == 7) copy_.mend();
  }
  EXPECT_GT(read_, 0u);
}

TEST_F(broken_tables, with_every_byte_of_the_header_wrong) {
  for (std::size_t place = 0; place < 16; ++place) {
    for (unsigned value = 0; value < 256; value += test::slow_tests ? 1 : 5) {
      copy_.bytes()[place] = static_cast<std::uint8_t>(value);
      read_all();
    }
    copy_.mend();
  }
}

// From one function's description: all that a wrong byte in it can say.
TEST_F(broken_tables, with_every_byte_of_a_description_wrong) {
  frame_description function;
  ASSERT_TRUE(find_description(copy_.table(), copy_.moved(functions_[functions_.size() / 2]), function));
  const auto first = static_cast<std::size_t>(function.program.position() - copy_.bytes().data()) - 24;
  const auto last = static_cast<std::size_t>(function.program.end() - copy_.bytes().data());
  for (std::size_t place = first; place < last; ++place) {
    const std::uint8_t right = copy_.bytes()[place];
    for (unsigned value = 0; value < 256; ++value) {
      copy_.bytes()[place] = static_cast<std::uint8_t>(value);
      static_cast<void>(find_frame_rule(copy_.table(), function.function_end - 1));
    }
    copy_.bytes()[place] = right;
  }
}

TEST_F(broken_tables, cut_off_anywhere) {
  for (std::size_t left = 0; left < copy_.bytes().size(); left += 1 + left / 20) {
    const std::vector<std::uint8_t> part(copy_.bytes().data(), copy_.bytes().data() + left);
    const eh_frame_table table{part.data(), part.data(), part.data() + part.size()};
    const std::uintptr_t moved = address_of(part.data()) - address_of(own_table().header);
    for (const std::uintptr_t function : functions_)
      static_cast<void>(find_frame_rule(table, function + moved));
  }
}

// Compares the table of one module with what its headers say; counts those that were compared.
int compare(dl_phdr_info* info, std::size_t, void* count) {
  const ElfW(Phdr)* frames = nullptr;
  const ElfW(Phdr)* code = nullptr;
  for (const ElfW(Phdr)* each = info->dlpi_phdr; each != info->dlpi_phdr + info->dlpi_phnum; ++each) {
    if (each->p_type == PT_GNU_EH_FRAME) frames = each;
    if (each->p_type == PT_LOAD && (each->p_flags & PF_X) != 0) code = each;
  }
  if (frames == nullptr || code == nullptr) return 0;
  eh_frame_table table{};
  const bool found = find_table(info->dlpi_addr + code->p_vaddr + code->p_memsz / 2, table);
  EXPECT_TRUE(found) << info->dlpi_name;
  if (!found) return 0;
  EXPECT_EQ(address_of(table.header), info->dlpi_addr + frames->p_vaddr) << info->dlpi_name;
  for (const ElfW(Phdr)* each = info->dlpi_phdr; each != info->dlpi_phdr + info->dlpi_phnum; ++each) {
    if (each->p_type != PT_LOAD || frames->p_vaddr - each->p_vaddr >= each->p_memsz) continue;
    EXPECT_EQ(address_of(table.begin), info->dlpi_addr + each->p_vaddr) << info->dlpi_name;
    EXPECT_EQ(table.end - table.begin, static_cast<std::ptrdiff_t>(each->p_memsz)) << info->dlpi_name;
    ++*static_cast<int*>(count);
  }
  return 0;
}

TEST(eh_frame_table, bounds_each_table_by_its_segment) {
  int compared = 0;
  dl_iterate_phdr(compare, &compared);
  EXPECT_GE(compared, 4);  // this test, libstdc++, libc, the loader
}

TEST(eh_frame_table, has_no_table_for_other_memory) {
  const std::string heap(100, ' ');
  eh_frame_table table{};
  EXPECT_FALSE(find_table(address_of(heap.data()), table));
  EXPECT_FALSE(find_table(address_of(&table), table));
  EXPECT_FALSE(find_table(0, table));
}

}  // namespace
}  // namespace mallard::unwind
