// SPDX-License-Identifier: Apache-2.0
// When firmware asks for translations of static structures, and what it makes of the answers, where
// the function behind it is a stand-in.
#include "rdma/eps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <boost/endian/conversion.hpp>

#include <vector>

#include "flitwise/link_socket.h"

namespace flitwise::eps_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Verdict = StructureAccess::Verdict;

constexpr StaticStructure kStates = StaticStructure::kQpStateArray, kCq = StaticStructure::kCq;
constexpr std::uint64_t kGuest = 0x10'0000, kHost = 0x80'0000;

struct Function final : TranslationInterface {
  bool ask(DomainId /*domain*/, std::uint64_t address, std::uint32_t request, bool /*counts*/,
           Time now) override {
    if (has_tag) {
      asked.push_back({address, request, now});
    }
    return has_tag;
  }
  void try_again(Time /*when*/) override { ++woken; }
  OptionalId<Pasid> pasid_of(DomainId /*domain*/) const override { return Pasid{7}; }
  struct Asked {
    std::uint64_t address;
    std::uint32_t request;
    Time when;
  };
  std::vector<double> times() const {  // us
    std::vector<double> all;
    for (const Asked& one : asked) {
      all.push_back(one.when.ns() / 1000);
    }
    return all;
  }
  std::vector<Asked> asked;
  bool has_tag = true;
  unsigned woken = 0;
};

class EpsTest : public ::testing::Test {
 protected:
  void set_up(const PretranslationConfig& pretranslation) {
    config_.rdma.pretranslation = pretranslation;
    config_.doorbell = 0x8000;
    Eps::Hooks hooks;
    hooks.touched = [this](std::uint32_t token, bool is_translated) {
      touched_.emplace_back(token, is_translated);
    };
    hooks.counts = [] { return true; };
    eps_ = std::make_unique<Eps>("eps", "ep0", config_, std::vector<DomainId>{DomainId{0}}, hooks);
    eps_->connect(function_);
    eps_->claim(map_);
  }
  StaticTranslations& structures() { return eps_->structures(); }
  void write(StaticStructure structure, std::uint64_t address, std::uint64_t bytes,
             bool is_allowed = true) {
    const std::uint64_t at = config_.registers() + StructureRegisters::offset_of(structure);
    RegionOwner& owner = *map_.part_at(0, at).owner;
    const std::uint64_t words[] = {address,
                                   bytes | (is_allowed ? StructureRegisters::kAllowed : 0)};
    for (unsigned i = 0; i < 2; ++i) {
      std::uint8_t wire[8];
      boost::endian::store_little_u64(wire, words[i]);
      owner.mmio_write({0, 0, at + 8 * i}, wire, 8, now());
    }
  }
  void answer(std::size_t index, std::uint64_t host) {
    TranslationEntry entry;
    entry.translated = host;
    entry.read = entry.write = true;
    structures().answered(function_.asked.at(index).request, &entry, now());
  }
  void fail(std::size_t index) {
    structures().answered(function_.asked.at(index).request, nullptr, now());
  }
  void invalidate(std::uint64_t address, unsigned itag = 0) {
    structures().invalidated(0, itag, PageRange::around(address, 12), {Pasid{7}, false}, now());
  }
  StructureAccess look(StaticStructure structure, std::uint64_t address, std::uint64_t bytes = 64) {
    return structures().access({0, structure, address, bytes});
  }
  static void run_us(double us) { sc_core::sc_start(us, sc_core::SC_US); }
  void boot() {
    write(kStates, kGuest, 256);
    write(kCq, kGuest + 0x1000, 4096);
    structures().enabled(0, true, now());
    run_us(0.5);
  }

  HcaConfig config_;
  Function function_;
  BarMap map_;
  std::vector<std::pair<std::uint32_t, bool>> touched_;
  std::unique_ptr<Eps> eps_;
};

PretranslationConfig config_of(bool clears = false) {
  PretranslationConfig config;
  config.clears = clears;
  return config;
}

TEST_F(EpsTest, EP_1_ItLooksAtBootAndWhenARegisterIsWritten) {
  set_up(config_of());
  write(kStates, kGuest, 256);
  run_us(500);
  EXPECT_THAT(function_.asked, IsEmpty()) << "before the function has ATS";
  structures().enabled(0, true, now());
  run_us(1);
  ASSERT_EQ(function_.asked.size(), 1U);
  EXPECT_EQ(function_.asked[0].address, kGuest);
  answer(0, kHost);
  write(kCq, kGuest + 0x1000, 4096);
  write(StaticStructure::kDmaValidTable, kGuest + 0x3000, 64, false);  // which is not allowed
  run_us(1000);
  EXPECT_EQ(function_.asked.size(), 2U);
}

// The register has its address and its bit from the answer on.
TEST_F(EpsTest, EP_5_AccessesGoByTheRegister) {
  set_up(config_of());
  EXPECT_EQ(look(kCq, kGuest).at, AddressType::kUntranslated) << "no register is written";
  boot();
  EXPECT_EQ(look(kCq, kGuest + 0x1040).address, kGuest + 0x1040);
  answer(1, kHost);
  const StructureAccess access = look(kCq, kGuest + 0x1040);
  EXPECT_EQ(access.at, AddressType::kTranslated);
  EXPECT_EQ(access.address, kHost + 0x40);
  structures().begin({0, kCq, kGuest + 0x1040, 64}, 5);
  structures().begin({0, kStates, kGuest, 64}, 6);
  EXPECT_THAT(touched_, ElementsAre(std::pair(5U, true), std::pair(6U, false)));
  EXPECT_EQ(look(kCq, kGuest + 0x1fc0).verdict, Verdict::kGo);
  EXPECT_EQ(look(kCq, kGuest + 0x1fc1).verdict, Verdict::kFault);
  EXPECT_EQ(look(kCq, kGuest + 0xfc0).verdict, Verdict::kFault);
}

// 10 us after a failure, twice as long behind each.
TEST_F(EpsTest, EP_6_FailuresAreTriedAgainLaterAndLater) {
  set_up(config_of());
  write(kStates, kGuest, 256);
  structures().enabled(0, true, now());
  std::size_t failed = 0;
  for (int us = 0; us < 200; ++us) {
    run_us(0.5);
    if (function_.asked.size() > failed) {
      fail(failed++);
    }
    run_us(0.5);
  }
  const std::vector<double> times = function_.times();
  ASSERT_EQ(times.size(), 5U);
  for (std::size_t i = 1; i < times.size(); ++i) {
    EXPECT_NEAR(times[i] - times[i - 1], 10.0 * (1U << (i - 1)), 1.0);
  }
}

TEST_F(EpsTest, EP_6_ARequestThatFindsNoTagHasFailed) {
  set_up(config_of());
  function_.has_tag = false;
  boot();
  function_.has_tag = true;
  run_us(8);
  EXPECT_THAT(function_.asked, IsEmpty());
  run_us(3);
  EXPECT_EQ(function_.asked.size(), 2U);
}

// Nothing wakes it for what an invalidation took but the next look.
TEST_F(EpsTest, EP_7_WhatAnInvalidationTookIsSetByTheNextLook) {
  set_up(config_of());
  boot();
  answer(0, kHost);
  answer(1, kHost + 0x1000);
  invalidate(kGuest);
  EXPECT_EQ(look(kStates, kGuest).at, AddressType::kUntranslated);
  EXPECT_EQ(look(kStates, kGuest).address, kGuest);
  EXPECT_EQ(look(kCq, kGuest + 0x1000).at, AddressType::kTranslated);
  run_us(98);
  EXPECT_EQ(function_.asked.size(), 2U);
  run_us(3);
  ASSERT_EQ(function_.asked.size(), 3U);
  EXPECT_NEAR(function_.times()[2], 100, 0.01);
}

TEST_F(EpsTest, EP_C9_ClearedOnesLetAccessesWait) {
  set_up(config_of(true));
  boot();
  answer(0, kHost);
  invalidate(kGuest);
  EXPECT_EQ(look(kStates, kGuest).verdict, Verdict::kWait);
  run_us(101);
  EXPECT_EQ(function_.asked.size(), 3U);
  EXPECT_EQ(look(kStates, kGuest).verdict, Verdict::kWait) << "it has asked, no more";
  const unsigned before = function_.woken;
  answer(2, kHost + 0x5000);
  EXPECT_EQ(function_.woken, before + 1);
  EXPECT_EQ(look(kStates, kGuest).address, kHost + 0x5000);
}

TEST_F(EpsTest, EP_13_AFunctionWithoutAtsHasNothingTranslated) {
  set_up(config_of());
  boot();
  answer(0, kHost);
  structures().enabled(0, false, now());
  EXPECT_EQ(look(kStates, kGuest).at, AddressType::kUntranslated);
  answer(1, kHost + 0x1000);  // late
  EXPECT_EQ(look(kCq, kGuest + 0x1000).at, AddressType::kUntranslated);
  run_us(500);
  EXPECT_EQ(function_.asked.size(), 2U);
  structures().enabled(0, true, now());
  run_us(1);
  EXPECT_EQ(function_.asked.size(), 4U);
}

}  // namespace
}  // namespace flitwise::eps_test
