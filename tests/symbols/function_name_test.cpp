#include "symbols/function_name.hpp"

#include <gtest/gtest.h>

namespace mallard::symbols {
namespace {

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

}  // namespace
}  // namespace mallard::symbols
