// SPDX-License-Identifier: Apache-2.0
// What all components of a machine agree on, whoever denied it last.
#include "common/component_list.h"

#include <gtest/gtest.h>

namespace flitwise::component_list_test {
namespace {

class Part : public Component {
 public:
  explicit Part(const char* name) : name_(name) {}
  const char* name() const override { return name_; }
  bool is_quiet() const override { return quiet; }
  bool is_done() const override { return done; }
  bool quiet = true, done = true;

 private:
  const char* name_;
};

TEST(ComponentList, AllAgreeWhereNobodyDeniesWhoeverDeniedLast) {
  Part first("first"), second("second"), third("third");
  ComponentList list;
  EXPECT_TRUE(all_of(list.all(), &Component::is_quiet)) << "nobody denies";
  list.add(first);
  list.add(second);
  list.add(third);
  EXPECT_TRUE(all_of(list.all(), &Component::is_quiet));
  third.quiet = false;
  EXPECT_FALSE(all_of(list.all(), &Component::is_quiet));
  EXPECT_TRUE(all_of(list.all(), &Component::is_done)) << "another question";
  third.quiet = true;
  EXPECT_TRUE(all_of(list.all(), &Component::is_quiet));
  first.quiet = false;
  EXPECT_FALSE(all_of(list.all(), &Component::is_quiet)) << "another one denies it";
  first.quiet = true;
  second.done = false;
  EXPECT_TRUE(all_of(list.all(), &Component::is_quiet));
  EXPECT_FALSE(all_of(list.all(), &Component::is_done));
}

}  // namespace
}  // namespace flitwise::component_list_test
