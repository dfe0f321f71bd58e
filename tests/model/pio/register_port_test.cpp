// SPDX-License-Identifier: Apache-2.0
// Registers of send contexts behind the clock of the PCIe interface.
#include "pio/register_port.h"

#include <gtest/gtest.h>

#include <boost/endian/conversion.hpp>

#include <utility>
#include <vector>

#include "pio/pio_config.h"

namespace flitwise::register_port_test {
namespace {

using Registers = SendRegisters;

/// The engine that owns the registers: it hands reads on.
class Bench final : public RegionOwner {
 public:
  Bench()
      : port(rules, Time::from_ns(5)),
        access(1U << 26, [this](const Packet& /*request*/, const std::vector<std::uint8_t>& bytes,
                                Time ready) {
          std::uint64_t value = 0;
          for (std::size_t i = bytes.size(); i > 0; --i) {
            value = value << 8 | bytes[i - 1];
          }
          answers.emplace_back(value, ready);
        }) {
    access.map().claim({kPioRegisters, Registers::kBytes, 0, 1}, *this);
    rules.set_up(2, {0, 8, 4, false, false});
  }
  void mmio_write(const MmioPlace& /*place*/, const std::uint8_t* /*bytes*/, std::size_t /*size*/,
                  Time /*now*/) override {}
  void mmio_read(const MmioRead& read, BarAccess& to, Time now) override {
    port.read(read, kPioRegisters, to, now);
  }
  void read(std::uint32_t offset, unsigned dws, Time now) {
    PacketRef request = pool.make(PacketKind::kTlp);
    request->tlp.length_dw = static_cast<std::uint16_t>(dws);
    access.read({0, kPioRegisters + offset}, std::move(request), now, now);
  }
  void write(std::uint32_t offset, std::uint64_t value) {
    std::uint8_t bytes[kQwBytes];
    boost::endian::store_little_u64(bytes, value);
    port.write(offset, bytes, sizeof(bytes));
  }

  PacketPool pool;
  SendEngine rules;
  RegisterPort port;
  BarAccess access;
  std::vector<std::pair<std::uint64_t, Time>> answers;
};

// [PIO-10.2] A crossing to the register and a crossing back; what was written before is done.
TEST(RegisterPort, PIO_10_2_AReadSeesTheWritesBeforeItAndTakesTwoCrossings) {
  Bench bench;
  const std::uint32_t control = Registers::offset_of(Registers::kCreditControl, 2);
  bench.read(control, 2, Time::from_ns(10));
  EXPECT_EQ(bench.port.next(), Time::from_ns(15));
  bench.write(control, 7);
  bench.port.work(Time::from_ns(15));
  EXPECT_EQ(bench.port.next(), Time::from_ns(20));
  EXPECT_TRUE(bench.answers.empty());
  EXPECT_FALSE(bench.port.is_quiet());
  bench.write(control, 1);  // too late for it
  bench.port.work(Time::from_ns(20));
  ASSERT_EQ(bench.answers.size(), 1U);
  EXPECT_EQ(bench.answers[0].first, 7U);
  EXPECT_EQ(bench.answers[0].second, Time::from_ns(20));
  EXPECT_TRUE(bench.port.is_quiet());
  EXPECT_EQ(bench.port.refused(), 0U);
}

// Half a register is none: it reads as ones, and counts.
TEST(RegisterPort, PIO_10_2_WhatNoRegisterTakesReadsAsOnesAndCounts) {
  Bench bench;
  bench.read(Registers::offset_of(Registers::kStatus, 2), 1, Time{});
  bench.port.work(Time::from_ns(5));
  bench.port.work(Time::from_ns(10));
  ASSERT_EQ(bench.answers.size(), 1U);
  EXPECT_EQ(bench.answers[0].first, 0xffff'ffffU);
  bench.write(Registers::offset_of(Registers::kStatus, 2), 1);  // read only
  EXPECT_EQ(bench.port.refused(), 2U);
}

}  // namespace
}  // namespace flitwise::register_port_test
