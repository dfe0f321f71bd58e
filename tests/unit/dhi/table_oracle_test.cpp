// SPDX-License-Identifier: Apache-2.0
// Both tables against naive ones under long random sequences.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include "dhi/device_handle_table.h"
#include "dhi/host_handle_table.h"
#include "support/handle_tables.h"

namespace flitwise::table_oracle_test {
namespace {

constexpr std::uint32_t kDomains = 14;

DeviceIdentity identity_of(std::uint32_t domain) {
  DeviceIdentity identity;
  identity.bdf = Bdf::of(1, 0, domain % 3);
  identity.pasid = Pasid{domain};
  return identity;
}

/// The device's table as a plain list that is sorted and searched whole at each question.
class NaiveDeviceTable {
 public:
  struct Entry {
    std::uint32_t domain = 0;
    std::uint64_t allocated = 0, used = 0, uses = 0, ended = 0, draining = 0;
    std::vector<std::uint64_t> pushes;  // serials of posted uses
    unsigned reads = 0, unsent = 0;
    std::uint64_t last_serial() const { return pushes.empty() ? 0 : pushes.back(); }
  };
  explicit NaiveDeviceTable(const DeviceHandleTableConfig& config) : config_(config) {}

  bool is_idle(const Entry& e) const {
    return e.reads == 0 && e.unsent == 0 && e.last_serial() <= pushed;
  }
  MissOutcome readiness(const Entry& e) const {
    if (e.unsent > 0) {
      return MissOutcome::kWaitForSend;
    }
    if (e.reads > 0) {
      return MissOutcome::kWaitForCompletion;
    }
    return is_idle(e) ? MissOutcome::kVictimReady : MissOutcome::kWaitForPush;
  }
  std::optional<std::uint16_t> find(std::uint32_t domain) const {
    for (const auto& [handle, e] : entries) {
      if (e.domain == domain && e.draining == 0) {
        return handle;
      }
    }
    return std::nullopt;
  }
  /// Victim and what it waits for. REQUIRES: the table is full.
  std::pair<std::uint16_t, MissOutcome> victim() const {
    const auto best = [&](auto may, auto key) {
      std::optional<std::uint16_t> found;
      for (const auto& [handle, e] : entries) {
        if (may(e) && (!found || key(e) < key(entries.at(*found)))) {
          found = handle;
        }
      }
      return found;
    };
    const auto policy = [&](const Entry& e) {
      switch (config_.victim) {
        case VictimPolicy::kFifo: return std::pair<std::uint64_t, std::uint64_t>(0, e.allocated);
        case VictimPolicy::kLru: return std::pair<std::uint64_t, std::uint64_t>(0, e.used);
        case VictimPolicy::kLfu: return std::pair<std::uint64_t, std::uint64_t>(e.uses, e.used);
      }
      return std::pair<std::uint64_t, std::uint64_t>(0, 0);
    };
    const auto by_draining = [](const Entry& e) { return e.draining; };
    const auto by_end = [](const Entry& e) { return e.ended; };
    auto found = best([&](const Entry& e) { return e.draining > 0 && is_idle(e); }, by_draining);
    if (!found && config_.prefer_idle && config_.prefer_ended) {
      found = best([&](const Entry& e) { return e.ended > 0 && is_idle(e); }, by_end);
    }
    if (!found && config_.prefer_idle) {
      found = best([&](const Entry& e) { return is_idle(e); }, policy);
    }
    if (!found) {
      found = best([](const Entry& e) { return e.draining > 0; }, by_draining);
    }
    if (!found && config_.prefer_ended) {
      found = best([](const Entry& e) { return e.ended > 0; }, by_end);
    }
    if (!found) {
      found = best([](const Entry&) { return true; }, policy);
    }
    return {*found, readiness(entries.at(*found))};
  }

  std::map<std::uint16_t, Entry> entries;
  std::uint64_t serial = 0, pushed = 0, clock = 0;

 private:
  DeviceHandleTableConfig config_;
};

/// Drives both with the same random steps.
class DeviceDuel {
 public:
  DeviceDuel(const DeviceHandleTableConfig& config, std::uint64_t seed)
      : table_(config), naive_(config), random_(seed), handles_(config.range.size()) {}

  void step() {
    const auto domain = static_cast<std::uint32_t>(random_() % kDomains);
    switch (random_() % 10) {
      case 0: end_context(domain); break;
      case 1:
        if (random_() % 4 == 0) {
          drain(domain);
        }
        break;
      case 2:
      case 3: finish_one(); break;
      case 4: push(); break;
      default: use(domain);
    }
    compare();
  }

 private:
  struct Pending {
    HandlePin pin;
    UseKind kind;
  };

  void use(std::uint32_t domain) {
    auto dhi = table_.find(DomainId{domain});
    if (!dhi) {
      dhi = allocate(domain);
    }
    if (!dhi) {
      return;
    }
    const UseKind kind = random_() % 3 == 0 ? UseKind::kNonPosted : UseKind::kPosted;
    pending_.push_back({table_.pin(*dhi, kind), kind});
    auto& entry = naive_.entries.at(to_int(*dhi));
    entry.used = ++naive_.clock;
    ++entry.uses;
    entry.ended = 0;
    ++(kind == UseKind::kPosted ? entry.unsent : entry.reads);
  }

  std::optional<Dhi> allocate(std::uint32_t domain) {
    const Choice choice = table_.choose();
    if (naive_.entries.size() == handles_) {
      const auto [victim, outcome] = naive_.victim();
      EXPECT_EQ(choice.victim, Dhi{victim});
      EXPECT_EQ(choice.outcome, outcome);
      if (outcome != MissOutcome::kVictimReady) {
        return std::nullopt;
      }
      naive_.entries.erase(victim);
    } else {
      EXPECT_EQ(choice.outcome, MissOutcome::kFreeHandle);
    }
    const Allocation made = table_.allocate(DomainId{domain}, identity_of(domain), false, 0);
    EXPECT_EQ(naive_.entries.count(to_int(made.dhi)), 0U);
    auto& entry = naive_.entries[to_int(made.dhi)];
    entry.domain = domain;
    entry.allocated = entry.used = ++naive_.clock;
    return made.dhi;
  }

  void finish_one() {
    if (pending_.empty()) {
      return;
    }
    const std::size_t index = random_() % pending_.size();
    const Pending done = pending_[index];
    pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(index));
    auto& entry = naive_.entries.at(to_int(done.pin.dhi));  // pinned, so it is still there
    if (done.kind == UseKind::kNonPosted) {
      table_.completed(done.pin);
      --entry.reads;
      return;
    }
    EXPECT_EQ(table_.sent(done.pin), ++naive_.serial);
    --entry.unsent;
    entry.pushes.push_back(naive_.serial);
  }

  void push() {
    const std::uint64_t upto = naive_.serial - (naive_.serial > 2 ? random_() % 3 : 0);
    table_.pushed_through(upto);
    naive_.pushed = std::max(naive_.pushed, upto);
  }

  void end_context(std::uint32_t domain) {
    table_.end_context(DomainId{domain});
    const auto handle = naive_.find(domain);
    if (handle && naive_.entries.at(*handle).ended == 0) {
      naive_.entries.at(*handle).ended = ++naive_.clock;
    }
  }

  void drain(std::uint32_t domain) {
    const auto handle = naive_.find(domain);
    if (handle) {
      table_.drain(Dhi{*handle});
      naive_.entries.at(*handle).draining = ++naive_.clock;
    }
    if (const auto gone = table_.drained()) {
      EXPECT_TRUE(naive_.is_idle(naive_.entries.at(to_int(*gone))));
      table_.deallocate(*gone);
      naive_.entries.erase(to_int(*gone));
    }
  }

  void compare() {
    ASSERT_EQ(test::valid_entries(table_), naive_.entries.size());
    for (std::uint32_t domain = 0; domain < kDomains; ++domain) {
      const auto expected = naive_.find(domain);
      const auto found = table_.find(DomainId{domain});
      ASSERT_EQ(found.has_value(), expected.has_value()) << domain;
      if (found) {
        ASSERT_EQ(to_int(*found), *expected);
      }
    }
    for (unsigned i = 0; i < handles_; ++i) {
      const auto handle = static_cast<std::uint16_t>(to_int(table_.range().lower) + i);
      const auto resolved = table_.resolve(Dhi{handle});
      ASSERT_EQ(resolved.has_value(), naive_.entries.count(handle) == 1);
      if (resolved) {
        ASSERT_EQ(to_int(resolved->domain), naive_.entries.at(handle).domain);
        ASSERT_EQ(table_.is_idle(Dhi{handle}), naive_.is_idle(naive_.entries.at(handle)));
      }
    }
  }

  DeviceHandleTable table_;
  NaiveDeviceTable naive_;
  std::mt19937_64 random_;
  std::size_t handles_;
  std::vector<Pending> pending_;
};

TEST(TableOracle, D9_D10_DeviceTableMatchesANaiveOneForEveryPolicyAndPreference) {
  const std::uint64_t seed = 86772;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  for (const auto victim : {VictimPolicy::kFifo, VictimPolicy::kLru, VictimPolicy::kLfu}) {
    for (unsigned preferences = 0; preferences < 4; ++preferences) {
      DeviceHandleTableConfig config;
      config.range = {Dhi{16}, Dhi{23}};
      config.victim = victim;
      config.prefer_ended = (preferences & 1U) != 0;
      config.prefer_idle = (preferences & 2U) != 0;
      DeviceDuel duel(config, seed + preferences);
      for (int step = 0; step < 10'000; ++step) {
        ASSERT_NO_FATAL_FAILURE(duel.step()) << "step " << step << " preferences " << preferences;
        ASSERT_FALSE(testing::Test::HasFailure()) << "step " << step << " pref " << preferences;
      }
    }
  }
}

/// The host's table as a map, with the checks spelt out one by one.
class NaiveHostTable {
 public:
  explicit NaiveHostTable(DeallocMode mode) : mode_(mode) {}

  HandleStatus allocate(Bdf requester, const AllocMessage& m) {
    if (m.identity.bdf.bus() < 1 || m.identity.bdf.bus() > 2) {
      return HandleStatus::kBusOutsidePort;
    }
    if (m.identity.bdf != requester) {
      return HandleStatus::kRequesterMismatch;
    }
    const unsigned lower = (requester.bus() - 1) * 8;
    if (m.epoch != 0) {
      free_if([&](std::uint16_t handle) { return handle / 8 == lower / 8; });
      return HandleStatus::kEpochMismatch;
    }
    if (to_int(m.dhi) < lower || to_int(m.dhi) > lower + 7) {
      return HandleStatus::kHandleOutOfRange;
    }
    HandleStatus status = HandleStatus::kOk;
    const auto old = entries.find(to_int(m.dhi));
    if (to_int(*m.identity.pasid) > 9) {
      status = HandleStatus::kPasidNotGranted;
    } else if (m.is_trusted && requester.bus() != 1) {
      status = HandleStatus::kTrustNotGranted;
    } else if (mode_ == DeallocMode::kExplicit && old != entries.end() &&
               old->second.identity != m.identity) {
      status = HandleStatus::kHandleInUse;
    }
    if (status == HandleStatus::kOk) {
      entries[to_int(m.dhi)] = m;
    } else {
      entries.erase(to_int(m.dhi));
    }
    return status;
  }
  template <class Predicate>
  void free_if(Predicate predicate) {
    for (auto it = entries.begin(); it != entries.end();) {
      it = predicate(it->first) ? entries.erase(it) : std::next(it);
    }
  }

  std::map<std::uint16_t, AllocMessage> entries;

 private:
  DeallocMode mode_;
};

AllocMessage random_alloc(std::mt19937_64& random) {
  AllocMessage message;
  message.dhi = Dhi{static_cast<std::uint16_t>(random() % 18)};
  message.identity.bdf = Bdf::of(random() % 50 == 0 ? 3 : 1 + random() % 2, 0, random() % 2);
  message.identity.pasid = Pasid{static_cast<std::uint32_t>(random() % 11)};
  message.is_trusted = random() % 8 == 0;
  message.epoch = random() % 100 == 0 ? 1 : 0;
  return message;
}

void run_host_duel(DeallocMode mode, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  GrantTable grants({{{Pasid{0}, Pasid{9}}}, true, false, 0});
  for (const unsigned function : {0U, 1U}) {
    grants.set(Bdf::of(1, 0, function), {{{Pasid{0}, Pasid{9}}}, true, true, 0});
  }
  HostHandleTable table(mode, grants);
  const PartitionId first = table.add_partition({{1, 1}, {Dhi{0}, Dhi{7}}, 0});
  table.add_partition({{2, 2}, {Dhi{8}, Dhi{15}}, 0});
  NaiveHostTable naive(mode);
  for (int step = 0; step < 40'000; ++step) {
    const AllocMessage message = random_alloc(random);
    const Bdf requester = random() % 50 == 0 ? Bdf::of(2, 0, 0) : message.identity.bdf;
    if (random() % 4 != 0) {
      ASSERT_EQ(table.allocate({1, 2}, requester, message), naive.allocate(requester, message))
          << "step " << step;
    } else if (random() % 20 == 0) {
      table.reset(first, table.range(first), 0);
      naive.free_if([](std::uint16_t handle) { return handle < 8; });
    } else if (requester.bus() <= 2) {
      table.deallocate({1, 2}, requester, {DeallocScope::kOne, message.dhi, {}, {}, 0});
      const bool is_own = to_int(message.dhi) / 8 == requester.bus() - 1;
      naive.free_if([&](std::uint16_t h) { return is_own && h == to_int(message.dhi); });
    }
    for (std::uint16_t handle = 0; handle < 18; ++handle) {
      const auto resolved = table.resolve(Dhi{handle});
      const auto expected = naive.entries.find(handle);
      ASSERT_EQ(resolved.has_value(), expected != naive.entries.end()) << "step " << step;
      if (resolved) {
        ASSERT_EQ(resolved->identity, expected->second.identity);
        ASSERT_EQ(resolved->is_trusted, expected->second.is_trusted);
        const auto found = table.find(resolved->identity);
        ASSERT_TRUE(found);
        ASSERT_EQ(naive.entries.at(to_int(*found)).identity, resolved->identity);
      }
    }
  }
}

TEST(TableOracle, D14_D16_HostTableMatchesANaiveOneInBothModes) {
  const std::uint64_t seed = 12386;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  run_host_duel(DeallocMode::kImplicit, seed);
  run_host_duel(DeallocMode::kExplicit, seed);
}

}  // namespace
}  // namespace flitwise::table_oracle_test
