// SPDX-License-Identifier: Apache-2.0
// Both ends joined by an ordered stream of real messages: stale handles, resets, hostile devices.
#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <vector>

#include "dhi/device_handle_table.h"
#include "dhi/dhi_message.h"
#include "dhi/host_handle_table.h"
#include "support/handle_tables.h"

namespace flitwise::coherence_test {
namespace {

constexpr BusRange kBelow{1, 2};

DeviceIdentity identity_of(unsigned bus, std::uint32_t domain) {
  DeviceIdentity identity;
  identity.bdf = Bdf::of(bus, 0, domain % 2);
  if (domain % 5 != 0) {
    identity.pasid = Pasid{domain};
  }
  return identity;
}

/// What travels upstream, in order: a DHI message, a write or a read that carries a handle.
struct Upstream {
  Tlp tlp;
  std::vector<std::uint8_t> payload;
  bool is_message = false;
  bool is_flush = false;
  Dhi dhi{};
  DeviceIdentity meant;  ///< known to the checker alone
  HandlePin pin;
  std::uint64_t serial = 0;  ///< read: posted serial when it was sent
};

/// A conforming device of one function number of buses and a host, with the link between them.
class Machine {
 public:
  Machine(DeviceHandleTableConfig config, DeallocMode host_mode, std::uint64_t seed)
      : grants_(Grant::any()),
        device_(config),
        host_(host_mode, grants_),
        partition_(host_.add_partition({{1, 1}, config.range, config.epoch})),
        random_(seed) {}

  void step() {
    const auto domain = static_cast<std::uint32_t>(random_() % 24);
    const std::uint64_t what = random_() % 100;
    if (what < 55) {
      send(domain);
    } else if (what < 90) {
      deliver();
    } else if (what < 95) {
      device_.end_context(DomainId{domain});
    } else if (what < 97) {
      deallocate_some(domain);
    } else if (what < 98) {
      function_level_reset(domain % 2);
    } else if (what < 99 && random_() % 4 == 0) {
      hot_reset();
    }
  }
  void drain() {
    while (!link_.empty()) {
      deliver();
    }
  }

  std::uint64_t resolved() const { return resolved_; }
  std::uint64_t wrong() const { return wrong_; }
  std::uint64_t aborted() const { return aborted_; }
  const HostHandleTable& host() const { return host_; }
  const DeviceHandleTable& device() const { return device_; }

 private:
  void send(std::uint32_t domain) {
    auto dhi = device_.find(DomainId{domain});
    if (!dhi) {
      dhi = allocate(domain);
    }
    if (!dhi) {
      return;
    }
    Upstream use;
    use.dhi = *dhi;
    use.meant = identity_of(1, domain);
    const bool is_read = random_() % 3 == 0;
    use.pin = device_.pin(*dhi, is_read ? UseKind::kNonPosted : UseKind::kPosted);
    use.tlp.type = is_read ? TlpType::kMRd : TlpType::kMWr;
    if (is_read) {
      use.serial = device_.posted_serial();
    } else {
      device_.sent(use.pin);
    }
    link_.push_back(use);
  }

  std::optional<Dhi> allocate(std::uint32_t domain) {
    const Choice choice = device_.choose();
    if (choice.outcome == MissOutcome::kWaitForPush) {
      Upstream flush;
      flush.is_flush = true;
      flush.tlp.type = TlpType::kMRd;
      flush.serial = device_.posted_serial();
      link_.push_back(flush);
    }
    if (choice.outcome != MissOutcome::kFreeHandle && choice.outcome != MissOutcome::kVictimReady) {
      return std::nullopt;
    }
    const Allocation made = device_.allocate(DomainId{domain}, identity_of(1, domain), false, 0x1);
    if (made.needs_dealloc_message) {
      send_dealloc({DeallocScope::kOne, made.dhi, {}, {}, device_.epoch()});
    }
    Upstream alloc;
    alloc.is_message = true;
    write_dhi_message(alloc.tlp, alloc.payload, made.message.identity.bdf, made.message);
    link_.push_back(alloc);
    return made.dhi;
  }

  void send_dealloc(const DeallocMessage& message) {
    Upstream dealloc;
    dealloc.is_message = true;
    write_dhi_message(dealloc.tlp, dealloc.payload, Bdf::of(1, 0, 0), message);
    link_.push_back(dealloc);
  }

  void deallocate_some(std::uint32_t domain) {
    if (const auto dhi = device_.find(DomainId{domain})) {
      device_.drain(*dhi);
    }
    while (const auto dhi = device_.drained()) {
      device_.deallocate(*dhi);
      send_dealloc({DeallocScope::kOne, *dhi, {}, {}, device_.epoch()});
    }
  }

  /// Requests of the function are gone; the host hears of it before its traffic resumes. [DHI D4]
  void function_level_reset(unsigned function) {
    drain();
    device_.reset_function(Bdf::of(1, 0, function));
    send_dealloc({DeallocScope::kFunction, {}, {}, Bdf::of(1, 0, function), device_.epoch()});
  }

  /// What was under way is lost; sometimes only one end hears of it at first. [DHI D4]
  void hot_reset() {
    link_.clear();
    const auto epoch = static_cast<std::uint8_t>(device_.epoch() + 1);
    const std::uint64_t first = random_() % 3;  // the device, the host, or both at once
    if (first < 2) {
      if (first == 0) {
        device_.reset(device_.range(), epoch);
      } else {
        host_.reset(partition_, host_.range(partition_), epoch);
      }
      for (int i = 0; i < 30; ++i) {
        send(static_cast<std::uint32_t>(random_() % 24));
        deliver();
      }
      link_.clear();
    }
    device_.reset(device_.range(), epoch);
    host_.reset(partition_, host_.range(partition_), epoch);
  }

  void deliver() {
    if (link_.empty()) {
      return;
    }
    const Upstream arrived = link_.front();
    link_.pop_front();
    if (arrived.is_message) {
      apply(arrived);
      return;
    }
    if (!arrived.is_flush) {
      const auto resolution = host_.resolve(arrived.dhi);
      resolved_ += resolution ? 1 : 0;
      aborted_ += resolution ? 0 : 1;
      wrong_ += resolution && resolution->identity != arrived.meant ? 1 : 0;
    }
    if (arrived.tlp.type == TlpType::kMRd) {
      if (!arrived.is_flush) {
        device_.completed(arrived.pin);
      }
      device_.pushed_through(arrived.serial);
    }
  }

  void apply(const Upstream& arrived) {
    const DhiMessage message =
        parse_dhi_message(arrived.tlp, arrived.payload.data(), arrived.payload.size());
    if (const auto* alloc = std::get_if<AllocMessage>(&message)) {
      host_.allocate(kBelow, arrived.tlp.requester_id, *alloc);
    } else {
      host_.deallocate(kBelow, arrived.tlp.requester_id, std::get<DeallocMessage>(message));
    }
  }

  GrantTable grants_;
  DeviceHandleTable device_;
  HostHandleTable host_;
  PartitionId partition_;
  std::mt19937_64 random_;
  std::deque<Upstream> link_;
  std::uint64_t resolved_ = 0, wrong_ = 0, aborted_ = 0;
};

TEST(Coherence, S2_HandleOfAConformingDeviceNeverResolvesToAWrongDomain) {
  const std::uint64_t seed = 31415;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  for (const auto victim : {VictimPolicy::kFifo, VictimPolicy::kLru, VictimPolicy::kLfu}) {
    for (const auto device_mode : {DeallocMode::kImplicit, DeallocMode::kExplicit}) {
      for (const auto host_mode : {DeallocMode::kImplicit, DeallocMode::kExplicit}) {
        DeviceHandleTableConfig config;
        config.range = {Dhi{4}, Dhi{11}};
        config.victim = victim;
        config.dealloc = device_mode;
        Machine machine(config, host_mode, seed);
        for (int step = 0; step < 30'000; ++step) {
          machine.step();
          ASSERT_EQ(machine.wrong(), 0U) << "step " << step;
        }
        machine.drain();
        EXPECT_GT(machine.resolved(), 1'000U);
        EXPECT_EQ(machine.host().mismatches(machine.device()), 0U);
      }
    }
  }
}

TEST(Coherence, D11_WithoutResetsNothingAConformingDeviceSendsIsAborted) {
  DeviceHandleTableConfig config;
  config.range = HandleRange::of_bits(2);
  config.dealloc = DeallocMode::kExplicit;
  const GrantTable grants(Grant::any());
  DeviceHandleTable device(config);
  HostHandleTable host(DeallocMode::kExplicit, grants);
  host.add_partition({{1, 1}, config.range, 0});
  std::mt19937_64 random(1);
  for (int step = 0; step < 20'000; ++step) {
    const auto domain = static_cast<std::uint32_t>(random() % 9);
    auto dhi = device.find(DomainId{domain});
    if (!dhi) {
      const Allocation made = device.allocate(DomainId{domain}, identity_of(1, domain), false, 0);
      const Bdf requester = made.message.identity.bdf;
      if (made.needs_dealloc_message) {
        ASSERT_EQ(host.deallocate(kBelow, requester, {DeallocScope::kOne, made.dhi, {}, {}, 0}),
                  HandleStatus::kOk);
      }
      ASSERT_EQ(host.allocate(kBelow, requester, made.message), HandleStatus::kOk);
      dhi = made.dhi;
    }
    ASSERT_EQ(host.resolve(*dhi)->identity, identity_of(1, domain));
  }
  EXPECT_EQ(host.statistics().rejected(), 0U);
  EXPECT_EQ(host.statistics().deallocs, device.statistics().evictions);
}

// [DHI D1]
TEST(Coherence, D1_D23_TwoDevicesOfDifferentSizesShareOneLargerTableOfTheHost) {
  const GrantTable grants(Grant::any());
  HostHandleTable host(DeallocMode::kImplicit, grants);
  const HandleRange ranges[] = {{Dhi{0}, Dhi{99}}, {Dhi{100}, Dhi{103}}};
  for (unsigned bus = 1; bus <= 2; ++bus) {
    const auto number = static_cast<std::uint8_t>(bus);
    host.add_partition({{number, number}, ranges[bus - 1], 0});
  }
  for (unsigned bus = 1; bus <= 2; ++bus) {
    DeviceHandleTableConfig config;
    config.range = ranges[bus - 1];
    DeviceHandleTable device(config);
    for (std::uint32_t domain = 0; domain < 150; ++domain) {
      const auto made = device.allocate(DomainId{domain}, identity_of(bus, domain), false, 0);
      ASSERT_EQ(host.allocate(kBelow, made.message.identity.bdf, made.message), HandleStatus::kOk);
    }
    EXPECT_EQ(test::valid_entries(device), config.range.size());
    EXPECT_EQ(host.mismatches(device), 0U);
  }
  EXPECT_EQ(test::valid_entries(host, ranges[0]), 100U);
  EXPECT_EQ(test::valid_entries(host, ranges[1]), 4U);
}

// [DHI-28]
TEST(Coherence, HandleThatMeansTwoDomainsIsFound) {
  DeviceHandleTableConfig config;
  config.range = HandleRange::of_bits(2);
  DeviceHandleTable device(config);
  const GrantTable grants(Grant::any());
  HostHandleTable host(DeallocMode::kImplicit, grants);
  host.add_partition({{1, 1}, config.range, 0});
  for (std::uint32_t domain = 0; domain < 3; ++domain) {
    AllocMessage message =
        device.allocate(DomainId{domain}, identity_of(1, domain), false, 0).message;
    if (domain == 1) {
      message.identity.pasid = Pasid{999};  // the injected bug
    }
    if (domain != 2) {
      host.allocate(kBelow, message.identity.bdf, message);
    }
  }
  EXPECT_EQ(host.mismatches(device), 1U) << "handle 2 is only under way";
}

/// Any fields, and often enough good ones that something gets through.
Tlp random_tlp(std::mt19937_64& random, std::vector<std::uint8_t>& payload) {
  Tlp tlp;
  tlp.type = random() % 2 == 0 ? TlpType::kMsg : TlpType::kMsgD;
  tlp.message_code = random() % 50 == 0 ? msg::kVendorType0 : msg::kVendorType1;
  tlp.message_dw2 = kHandleVendorId | (random() % 50 == 0 ? 1U << 16 : 0U);
  tlp.routing = random() % 20 == 0 ? MsgRouting::kById : MsgRouting::kToRootComplex;
  tlp.relaxed_ordering = random() % 50 == 0;
  const auto opcode = static_cast<std::uint32_t>(random() % 3 == 0 ? random() % 6 : 1);
  const auto flags = static_cast<std::uint32_t>(random() % 3 == 0 ? random() % 16 : 8);
  const auto epoch = static_cast<std::uint32_t>(random() % 200 == 0);
  tlp.message_dw3 =
      (opcode << 28) | (flags << 24) | (epoch << 16) | static_cast<std::uint32_t>(random() % 20);
  tlp.length_dw = static_cast<std::uint16_t>(random() % 3 == 0 ? random() % 3 : 2);
  payload.assign(tlp.type == TlpType::kMsg ? 0 : tlp.length_dw * 4U, 0);
  for (std::uint8_t& byte : payload) {
    byte = random() % 3 == 0 ? static_cast<std::uint8_t>(random() % 4) : 0;
  }
  if (payload.size() >= 4) {
    payload[0] = static_cast<std::uint8_t>(random() % 10 == 0 ? random() % 4 : 2);
  }
  return tlp;
}

TEST(Coherence, S1_S3_HostileDeviceTouchesNoEntryOfAnotherAndStaysInItsGrant) {
  const std::uint64_t seed = 666;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  GrantTable grants;
  grants.set(Bdf::of(1, 0, 0), {{{Pasid{1}, Pasid{8}}}, true, true, 0xffff});
  grants.set(Bdf::of(2, 0, 0), {{{Pasid{2}, Pasid{3}}}, false, false, 0x0001});
  HostHandleTable host(DeallocMode::kImplicit, grants);
  host.add_partition({{1, 1}, {Dhi{0}, Dhi{7}}, 0});
  host.add_partition({{2, 2}, {Dhi{8}, Dhi{15}}, 0});
  for (std::uint16_t dhi = 0; dhi < 8; ++dhi) {
    AllocMessage good;
    good.dhi = Dhi{dhi};
    good.identity.bdf = Bdf::of(1, 0, 0);
    good.identity.pasid = Pasid{dhi + 1U};
    good.is_trusted = true;
    ASSERT_EQ(host.allocate({1, 1}, good.identity.bdf, good), HandleStatus::kOk);
  }
  std::uint64_t sent = 0;
  std::uint64_t good = 0;
  for (; sent < 300'000; ++sent) {
    std::vector<std::uint8_t> payload;
    Tlp tlp = random_tlp(random, payload);
    tlp.requester_id = Bdf::of(2, 0, random() % 10 == 0 ? 1 : 0);  // direct attach: its own buses
    const DhiMessage message = parse_dhi_message(tlp, payload.data(), payload.size());
    HandleStatus status = HandleStatus::kMalformed;
    if (const auto* alloc = std::get_if<AllocMessage>(&message)) {
      status = host.allocate({2, 2}, tlp.requester_id, *alloc);
    } else if (const auto* dealloc = std::get_if<DeallocMessage>(&message)) {
      status = host.deallocate({2, 2}, tlp.requester_id, *dealloc);
    } else {
      host.record_rejection(status);
    }
    good += status == HandleStatus::kOk ? 1 : 0;
    for (std::uint16_t dhi = 0; dhi < 8; ++dhi) {
      const auto other = host.resolve(Dhi{dhi});
      ASSERT_TRUE(other && other->is_trusted) << "message " << sent;
      ASSERT_EQ(other->identity.pasid, Pasid{dhi + 1U});
    }
    for (std::uint16_t dhi = 8; dhi < 16; ++dhi) {
      if (const auto own = host.resolve(Dhi{dhi})) {
        ASSERT_EQ(own->identity.bdf, Bdf::of(2, 0, 0));
        ASSERT_TRUE(own->identity.pasid == Pasid{2} || own->identity.pasid == Pasid{3});
        ASSERT_FALSE(own->is_trusted);
        ASSERT_EQ(own->capabilities & ~0x0001, 0);
      }
    }
  }
  const HostHandleStatistics& statistics = host.statistics();
  EXPECT_EQ(good + statistics.rejected(), sent) << "every message is either applied or counted";
  EXPECT_GT(good, 500U);
  for (const HandleStatus kind :
       {HandleStatus::kBusOutsidePort, HandleStatus::kRequesterMismatch,
        HandleStatus::kHandleOutOfRange, HandleStatus::kPasidNotGranted,
        HandleStatus::kTrustNotGranted, HandleStatus::kCapabilityNotGranted,
        HandleStatus::kEpochMismatch, HandleStatus::kNoValidEntry,
        HandleStatus::kFunctionNotGranted, HandleStatus::kMalformed}) {
    EXPECT_GT(statistics.rejections[static_cast<std::size_t>(kind)], 0U) << name_of(kind);
  }
}

}  // namespace
}  // namespace flitwise::coherence_test
