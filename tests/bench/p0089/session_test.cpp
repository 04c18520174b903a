#include "p0089/session.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace mallard::p0089 {
namespace {

setting small() {
  setting asked;
  asked.density = {3, 4, 6, true};
  return asked;
}

TEST(Session, HasTheFirstContestantTwiceWhateverIsAskedFor) {
  const session one(small(), {{"AS7"}, 1, 1u << 30});
  std::vector<std::string> labels;
  for (const row& r : one.rows()) labels.push_back(r.of->label + (r.repeated ? " again" : ""));
  EXPECT_EQ(labels, (std::vector<std::string>{"AS1", "AS7", "AS1 again"}));
}

TEST(Session, TakesEveryFormOfAStrategy) {
  const session one(small(), {{"multipool"}, 1, 1u << 30});
  EXPECT_EQ(one.rows().size(), 1u + 4 + 1);
}

TEST(Session, SkipsWhatCannotFitTheLimit) {
  setting asked;
  asked.density = {12, 16, 4, true};
  session one(asked, {{"AS7"}, 1, 1u << 20});
  one.run();
  for (const row& r : one.rows()) {
    EXPECT_EQ(r.status, harness::row_status::skipped);
    if (r.of->bound != binding::malloc) {
      EXPECT_NE(r.reason.find("the limit is 1.00 MiB"), std::string::npos) << r.reason;
    }
    EXPECT_FALSE(r.measured());
  }
  EXPECT_FALSE(one.any_failed());
}

}  // namespace
}  // namespace mallard::p0089
