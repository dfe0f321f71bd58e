// SPDX-License-Identifier: Apache-2.0
// What drained after the last symbol, from given figures.
#include "results/summary_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace flitwise::drain_text_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// 100 us of window, of which the direction up is done after 10 us.
RunResult early_up() {
  RunResult result;
  LinkResult link;
  link.name = "rp0-ep0";
  link.up.tlps = 100;
  link.up.payload_bytes = 6'400;
  link.up.first_symbol = Time::from_us(1);
  link.up.last_symbol = Time::from_us(11);
  link.up.window = Time::from_us(100);
  link.up.window_end = Time::from_us(101);
  link.down.window = link.up.window;
  link.down.window_end = link.up.window_end;
  result.rows<LinkResult>().push_back(link);
  return result;
}

TEST(DrainText, AWindowThatEndsWithTheWireNeedsNoWord) {
  RunResult result = early_up();
  result.rows<LinkResult>()[0].up.last_symbol = Time::from_us(97);
  EXPECT_EQ(drain_text(result), "");
  result.rows<LinkResult>()[0].up.last_symbol = Time::from_us(95);
  EXPECT_NE(drain_text(result), "");
}

TEST(DrainText, HostMemoryThatWritesOnIsNamed) {
  RunResult result = early_up();
  result.memory_asked = Time::from_us(12);
  result.memory_done = Time::from_us(101);
  EXPECT_EQ(
      drain_text(result),
      "rp0-ep0 up: goodput is of 10 us up to its last symbol, utilisation of a window of 100 us; "
      "host memory drained for 89 us more\n");
}

// The flight of the last symbol is part of it, and so is a switch: no stage is blamed alone.
TEST(DrainText, TheWayToMemoryIsNamedWhereMemoryIsAskedLate) {
  RunResult result = early_up();
  result.memory_asked = Time::from_us(100);
  result.memory_done = Time::from_us(101);
  EXPECT_THAT(drain_text(result),
              HasSubstr("; the last requests were on their way to host memory for 89 us more"));
}

TEST(DrainText, TheDeviceIsNamedWhereMemoryWasDoneLongBefore) {
  RunResult result = early_up();
  result.memory_asked = Time::from_us(12);
  result.memory_done = Time::from_us(13);
  EXPECT_THAT(drain_text(result), HasSubstr("; the device was at work for 88 us more"));
}

TEST(DrainText, TheOtherDirectionIsNamedWhereItCarriesOn) {
  RunResult result = early_up();
  result.rows<LinkResult>()[0].down.tlps = 100;
  result.rows<LinkResult>()[0].down.payload_bytes = 6'400;
  result.rows<LinkResult>()[0].down.first_symbol = Time::from_us(2);
  result.rows<LinkResult>()[0].down.last_symbol = Time::from_us(100);
  EXPECT_THAT(drain_text(result), HasSubstr("; rp0-ep0 down carried TLPs for 89 us more"));
}

// Each device has a window of its own, and a link behind a switch goes on for others.
TEST(DrainText, TheOtherDirectionIsNamedForThisWindowAlone) {
  RunResult result = early_up();
  result.rows<LinkResult>()[0].down.tlps = 100;
  result.rows<LinkResult>()[0].down.first_symbol = Time::from_us(2);
  result.rows<LinkResult>()[0].down.last_symbol = Time::from_us(300);
  EXPECT_THAT(drain_text(result), HasSubstr("; rp0-ep0 down carried TLPs for 90 us more"));
}
TEST(DrainText, AnotherDirectionThatBeginsOnlyAtTheEndIsNotNamed) {
  RunResult result = early_up();
  result.memory_asked = Time::from_us(101);
  result.memory_done = Time::from_us(101);
  result.rows<LinkResult>()[0].down.tlps = 100;
  result.rows<LinkResult>()[0].down.first_symbol = Time::from_us(100);
  result.rows<LinkResult>()[0].down.last_symbol = Time::from_us(300);
  EXPECT_THAT(drain_text(result),
              HasSubstr("; the last requests were on their way to host memory for 90 us more"));
}

// What a cache keeps is over for its core before it is in memory.
TEST(DrainText, CXL_7_6_MemoryThatWritesAfterTheWindowIsNamedBehindCaches) {
  RunResult result = early_up();
  result.memory_asked = Time::from_us(12);
  result.memory_done = Time::from_us(401);
  EXPECT_THAT(drain_text(result), Not(HasSubstr("after the window"))) << "of something else";
  result.rows<CxlCacheResult>().emplace_back();
  EXPECT_THAT(drain_text(result), HasSubstr("host memory drained for 89 us more; "
                                            "host memory wrote for 300 us after the window\n"));
  result.rows<LinkResult>()[0].up.last_symbol = Time::from_us(101);
  EXPECT_THAT(drain_text(result), HasSubstr("a window of 100 us; host memory wrote for 300 us"));
  result.memory_done = Time::from_us(105);
  EXPECT_EQ(drain_text(result), "") << "not worth a line";
}

// The window of another link may be what memory worked for.
TEST(DrainText, CXL_7_6_MemoryIsBehindTheLastOfAllWindows) {
  RunResult result = early_up();
  result.rows<CxlCacheResult>().emplace_back();
  result.rows<LinkResult>().push_back(result.rows<LinkResult>()[0]);
  result.rows<LinkResult>()[1].down.window_end = Time::from_us(301);
  result.memory_done = Time::from_us(401);
  EXPECT_THAT(drain_text(result), HasSubstr("host memory wrote for 100 us after the window\n"));
}

// Requests without payload have no goodput that could be misread.
TEST(DrainText, ADirectionWithoutPayloadIsLeftOut) {
  RunResult result = early_up();
  result.rows<LinkResult>()[0].up.payload_bytes = 0;
  EXPECT_EQ(drain_text(result), "");
}

}  // namespace
}  // namespace flitwise::drain_text_test
