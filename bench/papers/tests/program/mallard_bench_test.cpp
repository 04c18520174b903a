// The whole program, as its users run it.
#include "program/group_session.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

namespace mallard::bench {
namespace {

using nlohmann::json;

json said(const std::string& arguments) {
  std::FILE* const pipe = ::popen((std::string(MALLARD_BENCH) + " " + arguments).c_str(), "r");
  std::string text;
  std::array<char, 4096> part;
  while (const std::size_t n = std::fread(part.data(), 1, part.size(), pipe)) text.append(part.data(), n);
  EXPECT_EQ(::pclose(pipe), 0) << text;
  return json::parse(text);
}

TEST(MallardBench, TellsEveryRowOfADensityGroup) {
  const json all = said("density --structure 4 --size 4 --leaves 6 --rounds 1");
  EXPECT_EQ(all["benchmark"], "density");
  EXPECT_EQ(all["group"]["structure"], "DS4");
  EXPECT_GT(all["machine"]["cores"], 0);
  EXPECT_EQ(all["rows"].size(), allocators_of(benchmark::density).size() + 1);
  EXPECT_EQ(all["rows"].back()["label"], "AS1");
  EXPECT_TRUE(all["rows"].back()["repeated"]);
  for (const json& row : all["rows"]) {
    if (row["status"] == "skipped") continue;  // a malloc that is not installed, or cannot be here
    EXPECT_EQ(row["status"], "ok") << row.dump();
    EXPECT_GT(row["ns_per_event"], 0) << row.dump();
    EXPECT_GT(row["cold_ns_per_event"], 0) << row.dump();
    EXPECT_LE(row["spread"][0], row["ns_per_event"]);
    EXPECT_TRUE(row["wall_ns_per_event"].is_null());
    EXPECT_TRUE(row["wall_spread"].is_null());
    EXPECT_TRUE(row["wall_rounds_ns"].is_null());
  }
}

TEST(MallardBench, FindsRoomInALitteredHeapThatIsResident) {
  const auto faults = [](const std::string& litter) {
    const json row =
        said("density --structure 4 --size 8 --leaves 8 --rounds 1 --strategy AS2" + litter)["rows"][1];
    EXPECT_EQ(row["label"], "AS2");
    return row["page_faults"].is_null() ? -1 : row["page_faults"].get<int>();
  };
  EXPECT_GT(faults(""), faults(" --litter 3"));
}

TEST(MallardBench, TellsEveryRowOfAUtilizationGroup) {
  const json all = said("utilization --total 20 --active 12 --block 6 --rounds 1");
  EXPECT_EQ(all["benchmark"], "utilization");
  EXPECT_EQ(all["rows"].size(), allocators_of(benchmark::utilization).size() + 1);
  for (const json& row : all["rows"]) {
    if (row["status"] == "skipped") continue;
    EXPECT_EQ(row["status"], "ok") << row.dump();
    EXPECT_GT(row["ns_per_event"], 0) << row.dump();
    EXPECT_GT(row["cold_ns_per_event"], 0) << row.dump();
  }
}

TEST(MallardBench, SaysOfAUtilizationThatReusesNothingHowFarItCame) {
  if (MALLARD_SANITIZED) GTEST_SKIP() << "refused memory, a sanitizer waits for itself while it reports that";
  const json all =
      said("utilization --total 30 --active 12 --block 12 --rounds 1 --memory-limit 64M --strategy AS3");
  const json& row = all["rows"][1];
  EXPECT_EQ(row["label"], "AS3");
  EXPECT_EQ(row["status"], "out_of_memory");
  EXPECT_TRUE(row["reason"].get<std::string>().ends_with(" of 1.00 GiB")) << row["reason"];
}

TEST(MallardBench, TellsEveryRowOfAContentionGroup) {
  const json all = said("contention --iterations 10 --block 6 --threads 2 --rounds 1");
  EXPECT_EQ(all["benchmark"], "contention");
  EXPECT_EQ(all["rows"].size(), allocators_of(benchmark::contention).size() + 1);
  EXPECT_GE(all["method"]["cores"], 1);
  for (const json& row : all["rows"]) {
    if (row["status"] == "skipped") continue;
    EXPECT_EQ(row["status"], "ok") << row.dump();
    EXPECT_GT(row["ns_per_event"], 0) << row.dump();
    EXPECT_GT(row["wall_spread"][0], 0) << row.dump();
    EXPECT_LE(row["wall_spread"][0], row["wall_ns_per_event"]) << row.dump();
    EXPECT_GE(row["wall_spread"][1], row["wall_ns_per_event"]) << row.dump();
    EXPECT_EQ(row["wall_rounds_ns"], json::array({row["wall_ns_per_event"]})) << row.dump();
    EXPECT_EQ(row["failed_locks"].is_number(), row["strategy"] == "locked multipool" ||
                                                   row["strategy"] == "synchronized_pool" ||
                                                   row["strategy"] == "synchronized_multipool")
        << row.dump();
  }
}

TEST(MallardBench, TellsEachFigureOfALocalityGroup) {
  const json all =
      said("locality --global 8 --subsystem 4 --product 2 --accesses 1024 --strategy AS7 --rounds 1");
  EXPECT_EQ(all["group"]["table"], "splits");
  EXPECT_EQ(all["method"]["accesses"], 1024);
  ASSERT_EQ(all["rows"].size(), 3u * 6)
      << "AS1, AS7 and AS1 again: three splits, before the shuffle and after";
  EXPECT_EQ(all["rows"][0]["split"], 0);
  EXPECT_EQ(all["rows"][0]["shuffled"], false);
  EXPECT_EQ(all["rows"][5]["split"], 2);
  EXPECT_EQ(all["rows"][5]["shuffled"], true);
  const json& multipool = all["rows"][6];
  EXPECT_EQ(multipool["label"], "AS7");
  EXPECT_EQ(multipool["status"], "ok") << multipool.dump();
  EXPECT_GE(multipool["ns_per_event"], 0);
  EXPECT_GT(multipool["max_held"], 0);
}

TEST(MallardBench, MeasuresARunInThePapersNotation) {
  const json all = said("locality --run \"-8 4 8 +3 2\" --strategy AS7 --rounds 1");
  EXPECT_EQ(all["group"]["subsystem"], 16);
  ASSERT_EQ(all["rows"].size(), 3u * 4);
  EXPECT_EQ(all["rows"][6]["part"], "access");
  EXPECT_EQ(all["rows"][6]["events"], 8 * 2 * 256);
  EXPECT_GT(all["rows"][6]["ns_per_event"], 0);
  EXPECT_TRUE(all["rows"][6]["cold_ns_per_event"].is_null()) << "it is one time, not a first and others";
  EXPECT_TRUE(all["rows"][6]["cold_rounds_ns"].is_null());
}

TEST(MallardBench, TellsTheMachineOfItsGroupsWithoutMeasuringOne) {
  EXPECT_EQ(said("density --machine"),
            said("density --size 4 --leaves 6 --rounds 1 --strategy AS7")["machine"]);
}

TEST(MallardBench, ListsItsStrategies) {
  const json list = said("density --list-strategies");
  ASSERT_EQ(list.size(), allocators_of(benchmark::density).size());
  EXPECT_EQ(list[0]["label"], "AS1");
  EXPECT_TRUE(list.back()["label"].is_null());
}

}  // namespace
}  // namespace mallard::bench
