// SPDX-License-Identifier: Apache-2.0
// Frames of several ports in one file: in the order of time, numbered, none twice and none too
// many.
#include "trace/frame_capture.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <tuple>
#include <vector>

#include "common/input_file.h"
#include "support/temporary_folder.h"

namespace flitwise::frame_capture_test {
namespace {

// Of a packet block: port, time in ns, first byte, is it inbound, id.
using Seen = std::tuple<std::uint64_t, std::uint64_t, unsigned, bool, std::uint64_t>;

std::vector<Seen> frames_of(const std::string& path) {
  const std::string text = read_own_file(path).text;
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  std::vector<Seen> frames;
  for (std::size_t at = 0; at < text.size(); at += little_endian(bytes + at + 4, 4)) {
    const std::uint8_t* const block = bytes + at;
    if (little_endian(block, 4) == 6) {
      const std::uint8_t* const end = block + little_endian(block + 4, 4);
      frames.emplace_back(little_endian(block + 8, 4),
                          little_endian(block + 12, 4) << 32 | little_endian(block + 16, 4),
                          block[28], little_endian(end - 24, 4) == 1, little_endian(end - 16, 8));
    }
  }
  return frames;
}

struct Bench {
  FrameRef frame(std::uint8_t byte) {
    FrameRef made = pool.make(1);
    made->bytes[0] = byte;
    return made;
  }
  void send(std::uint8_t byte, std::int64_t end, std::int64_t at_peer, std::int64_t now) {
    const FrameRef one = frame(byte);
    one->last = Time::from_ns(at_peer);
    capture->leaves(0, *one, Time::from_ns(end), Time::from_ns(now));
    capture->arrives(1, *one, Time::from_ns(now));
  }

  FramePool pool;
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/frames.pcapng";
  std::unique_ptr<FrameCapture> capture = std::make_unique<FrameCapture>(path);
};

TEST(FrameCapture, FramesStandInTheOrderOfTimeWhicheverPortTellsFirst) {
  Bench bench;
  EXPECT_EQ(bench.capture->add({"ep0", "a"}), 0U);
  EXPECT_EQ(bench.capture->add({"ep1", "b"}), 1U);
  bench.send(0xa, 100, 5'000, 40);  // a long wire
  bench.send(0xb, 200, 300, 150);
  bench.send(0xc, 2'000, 2'000, 1'990);  // no wire: out of one port and into the other
  bench.capture->flush(Time::from_ns(6'000));
  EXPECT_EQ(frames_of(bench.path), (std::vector<Seen>{{0, 100, 0xa, false, 1},
                                                      {0, 200, 0xb, false, 2},
                                                      {1, 300, 0xb, true, 2},
                                                      {0, 2'000, 0xc, false, 3},
                                                      {1, 2'000, 0xc, true, 3},
                                                      {1, 5'000, 0xa, true, 1}}));
}

// What is told a little late still finds its place.
TEST(FrameCapture, APortMayBeLateByLessThanAMicrosecond) {
  Bench bench;
  bench.send(0xa, 1'000, 9'000, 900);
  bench.send(0xb, 999, 9'000, 1'998);
  bench.capture->flush(Time::from_ns(2'000));
  EXPECT_EQ(frames_of(bench.path),
            (std::vector<Seen>{{0, 999, 0xb, false, 2}, {0, 1'000, 0xa, false, 1}}));
}

TEST(FrameCapture, AtTheEndWhatHasNotArrivedIsWithItsSenderAlone) {
  Bench bench;
  bench.send(0xa, 100, 500, 0);
  bench.send(0xb, 200, 600, 100);
  bench.send(0xc, 501, 601, 499);  // its last byte is still to leave
  const std::vector<Seen> at_500 = {{0, 100, 0xa, false, 1},
                                    {0, 200, 0xb, false, 2},
                                    {1, 500, 0xa, true, 1},
                                    {0, 501, 0xc, false, 3}};
  bench.capture->flush(Time::from_ns(500));
  EXPECT_EQ(frames_of(bench.path), at_500);
  std::vector<Seen> later = at_500;  // the run has gone on
  later.emplace_back(1, 600, 0xb, true, 2);
  bench.capture->flush(Time::from_ns(600));
  EXPECT_EQ(frames_of(bench.path), later);
}

// A run that ends by an error has what led to it.
TEST(FrameCapture, WhatItWasToldIsInTheFileOnceItIsGone) {
  Bench bench;
  bench.send(0xa, 100, 500, 90);
  bench.capture.reset();
  EXPECT_EQ(frames_of(bench.path), (std::vector<Seen>{{0, 100, 0xa, false, 1}}));
}

TEST(FrameCapture, AFileThatCannotBeMadeOrKeptIsAnError) {
  EXPECT_THROW(FrameCapture("/proc/no/frames.pcapng"), std::system_error);
  FrameCapture full("/dev/full");
  EXPECT_THROW(full.flush(Time{}), std::system_error);
  TraceFile large("/dev/full");
  large.write(std::string(100'000, 'x').data(), 100'000);  // more than is kept back
  try {
    large.flush();
    FAIL();
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code().value(), ENOSPC);
  }
}

}  // namespace
}  // namespace flitwise::frame_capture_test
