// SPDX-License-Identifier: Apache-2.0
// When a link has failed, and what is told of what repeats (docs/statistics.md).
#include "system/repeat_book.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <memory>
#include <string>

namespace flitwise::repeat_book_test {
namespace {

using testing::HasSubstr;

/// A link that says what it is told to.
class FakeLink : public Bystander {
 public:
  explicit FakeLink(const std::string& name) : Bystander(name) {}
  void add_progress(Progress& sum) const override {
    sum.delivered += done.delivered;
    sum.wasted += done.wasted;
    sum.again += done.again;
    sum.replays += done.replays;
  }
  void count_repeats(Counts& counts) const override {
    for (const auto& [what, count] : repeats) {
      counts[what] += count;
    }
  }
  /// So many TLPs were sent again in goes of `mean`, and so many arrived meanwhile.
  void replay(std::uint64_t wasted, std::uint64_t mean, std::uint64_t delivered) {
    done.wasted += wasted;
    done.again += wasted;
    done.replays += wasted / mean;
    done.delivered += delivered;
  }

  Progress done;
  Counts repeats;
};

class RepeatBookTest : public testing::Test {
 protected:
  RepeatBookTest() {
    list_.add(left_);
    list_.add(right_);
    left_.replay(50'000, 1, 7);  // before anybody looks
    book_ = std::make_unique<RepeatBook>(list_);
  }
  Progress sum() const {
    Progress all;
    left_.add_progress(all);
    right_.add_progress(all);
    return all;
  }
  std::string failed() { return book_->failed_link(sum()); }

  FakeLink left_{"left"}, right_{"right"};
  ComponentList list_;
  std::unique_ptr<RepeatBook> book_;
};

TEST_F(RepeatBookTest, ALinkHasFailedBehindAHundredThousandInVainAndNotBefore) {
  left_.replay(100'000, 10, 999);
  EXPECT_EQ(failed(), "");
  left_.replay(2'000, 10, 0);
  EXPECT_THAT(failed(), HasSubstr("left: 999 TLPs arrived while the last 102000 "));
}

TEST_F(RepeatBookTest, ALinkThatGetsOnInTenTriesHasNotFailed) {
  left_.replay(102'000, 10, 1'020);
  EXPECT_EQ(failed(), "") << "10,200 tries";
  right_.replay(102'000, 1'000, 0);
  EXPECT_EQ(failed(), "") << "102 tries are too few";
}

// What a link has delivered long ago does not excuse it.
TEST_F(RepeatBookTest, ALinkIsLookedAtAnewBehindEachHundredThousand) {
  left_.replay(150'000, 10, 1'000'000);
  EXPECT_EQ(failed(), "");
  left_.replay(99'000, 10, 0);
  EXPECT_EQ(failed(), "") << "the window has begun anew";
  left_.replay(3'000, 10, 0);
  EXPECT_THAT(failed(), HasSubstr("left: 0 TLPs arrived while the last 102000 "));
}

// Each link by itself: what the others deliver, or waste, is theirs.
TEST_F(RepeatBookTest, LinksAreJudgedOneByOne) {
  left_.replay(60'000, 10, 0);
  right_.replay(60'000, 10, 0);
  EXPECT_EQ(failed(), "");
  left_.done.delivered += 1'000'000;
  right_.replay(42'000, 10, 0);
  EXPECT_THAT(failed(), HasSubstr("right: 0 TLPs arrived"));
}

TEST_F(RepeatBookTest, TheMostFrequentRepetitionIsToldFirstAndEightAtMost) {
  left_.repeats = {{"polls", 3}, {"replays", 100}};
  book_->begin();
  EXPECT_EQ(book_->text(), "nothing\n");
  left_.repeats = {{"polls", 8}, {"replays", 109}, {"alike", 5}};
  EXPECT_EQ(book_->text(), "replays: 9 times\nalike: 5 times\npolls: 5 times\n");
  for (char c = 'a'; c < 'k'; ++c) {
    right_.repeats[std::string(1, c)] = 10;
  }
  const std::string text = book_->text();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 8);
  EXPECT_EQ(text.rfind("a: 10 times\n", 0), 0U);
}

// From the last completion on, and not from the start of the machine.
TEST_F(RepeatBookTest, RepetitionsAreCountedFromTheLastCompletionOn) {
  left_.repeats = {{"replays", 1'000}};
  book_->look(sum());
  EXPECT_EQ(book_->text(), "replays: 1000 times\n") << "nothing has been in vain yet";
  left_.replay(101, 1, 0);
  book_->look(sum());
  left_.repeats["replays"] = 1'101;
  EXPECT_EQ(book_->text(), "replays: 101 times\n");
  book_->look(sum());
  book_->begin();
  EXPECT_EQ(book_->text(), "replays: 101 times\n") << "once";
  book_->forget(sum());
  left_.replay(101, 1, 0);
  book_->look(sum());
  left_.repeats["replays"] = 1'111;
  EXPECT_EQ(book_->text(), "replays: 10 times\n");
}

}  // namespace
}  // namespace flitwise::repeat_book_test
