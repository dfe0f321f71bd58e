// SPDX-License-Identifier: Apache-2.0
// Domains, functions and PASIDs lead to one another and back.
#include "endpoint/domain_numbers.h"

#include <gtest/gtest.h>

namespace flitwise::domain_numbers_test {
namespace {

constexpr Bdf kBase = Bdf::of(1, 0, 0);

DeviceConfig device_with(unsigned functions, PasidSpace space) {
  DeviceConfig device;
  device.functions.count = functions;
  device.functions.pasid_space = space;
  return device;
}

void expect_way_back(const DomainNumbers& numbers, std::uint32_t domains) {
  for (std::uint32_t i = 0; i < domains; ++i) {
    const DeviceIdentity identity = numbers.identity(kBase, DomainId{i});
    const auto function = static_cast<unsigned>(identity.bdf.value - kBase.value);
    EXPECT_EQ(numbers.domain(function, identity.pasid), DomainId{i}) << i;
  }
}

TEST(DomainNumbers, EachFunctionNumbersItsOwnProcesses) {
  const DomainNumbers numbers(device_with(4, PasidSpace::kFunction));
  EXPECT_EQ(numbers.identity(kBase, DomainId{9}), DeviceIdentity(Bdf::of(1, 0, 1), Pasid{2}));
  EXPECT_EQ(numbers.limit(), 4U << 20);
  expect_way_back(numbers, 64);
}

TEST(DomainNumbers, TheHostGivesEachProcessItsOwnPasid) {
  const DomainNumbers numbers(device_with(4, PasidSpace::kSystem));
  EXPECT_EQ(numbers.identity(kBase, DomainId{9}), DeviceIdentity(Bdf::of(1, 0, 1), Pasid{9}));
  EXPECT_EQ(numbers.limit(), 1U << 20);
  EXPECT_EQ(numbers.domain(2, Pasid{9}), std::nullopt);  // of function 1
  expect_way_back(numbers, 64);
}

TEST(DomainNumbers, WithoutPasidEachFunctionIsOneDomain) {
  for (const PasidSpace space : {PasidSpace::kFunction, PasidSpace::kSystem}) {
    DeviceConfig device = device_with(4, space);
    device.functions.has_pasid = false;
    const DomainNumbers numbers(device);
    EXPECT_EQ(numbers.limit(), 4U);
    EXPECT_EQ(numbers.domain(0, Pasid{0}), std::nullopt);
    EXPECT_EQ(numbers.domain(4, {}), std::nullopt);
    expect_way_back(numbers, 4);
  }
}

// workload.functions
TEST(DomainNumbers, TheFunctionsThatCarryTheWorkloadShareItsDomains) {
  DeviceConfig device = device_with(4, PasidSpace::kFunction);
  device.functions.carriers = kVirtualFunctions;
  const DomainNumbers vfs(device);
  EXPECT_EQ(vfs.functions(), 3U);
  EXPECT_EQ(vfs.identity(kBase, DomainId{0}), DeviceIdentity(Bdf::of(1, 0, 1), Pasid{0}));
  EXPECT_EQ(vfs.identity(kBase, DomainId{7}), DeviceIdentity(Bdf::of(1, 0, 2), Pasid{2}));
  EXPECT_EQ(vfs.domain(0, Pasid{0}), std::nullopt) << "the PF";
  expect_way_back(vfs, 64);

  device.functions.carriers = {0, 3};
  const DomainNumbers listed(device);
  EXPECT_EQ(listed.identity(kBase, DomainId{3}), DeviceIdentity(Bdf::of(1, 0, 3), Pasid{1}));
  EXPECT_EQ(listed.domain(1, Pasid{0}), std::nullopt);
  EXPECT_EQ(listed.limit(), 2U << 20);
  expect_way_back(listed, 64);

  device.functions.pasid_space = PasidSpace::kSystem;
  const DomainNumbers shared(device);
  EXPECT_EQ(shared.identity(kBase, DomainId{3}), DeviceIdentity(Bdf::of(1, 0, 3), Pasid{3}));
  EXPECT_EQ(shared.domain(0, Pasid{3}), std::nullopt) << "of function 3";
  expect_way_back(shared, 64);
}

// workload.contexts [DHI D22]
TEST(DomainNumbers, ContextsOfOneProcessFollowOneAnother) {
  for (const bool has_pasid : {true, false}) {
    DeviceConfig device = device_with(2, PasidSpace::kFunction);
    device.functions.has_pasid = has_pasid;
    device.functions.context_kind = ContextKind::kQueuePair;
    device.functions.contexts_per_process = 3;
    const DomainNumbers numbers(device);
    EXPECT_EQ(numbers.per_pasid(), 6U);
    EXPECT_EQ(numbers.limit(), has_pasid ? 6U << 20 : 6U);
    const std::uint32_t domains = has_pasid ? 18 : 6;
    for (std::uint32_t i = 0; i < domains; ++i) {
      const DeviceIdentity identity = numbers.identity(kBase, DomainId{i});
      const ContextId context = numbers.context(DomainId{i});
      const auto function = static_cast<unsigned>(identity.bdf.value - kBase.value);
      EXPECT_EQ(function, i % 2);
      EXPECT_EQ(context, ContextId(ContextKind::kQueuePair, i / 2));
      EXPECT_EQ(numbers.domain(function, identity.pasid, context), DomainId{i});
      EXPECT_EQ(numbers.domain(function, identity.pasid), DomainId{i / 6 * 6 + i % 2})
          << "the first of its process";
    }
    const OptionalId<Pasid> first = has_pasid ? OptionalId<Pasid>(Pasid{0}) : std::nullopt;
    EXPECT_EQ(numbers.domain(0, first, ContextId(ContextKind::kQueuePair, 3)), std::nullopt)
        << "of another process";
    EXPECT_EQ(numbers.domain(0, first, ContextId(ContextKind::kWorkCommand, 0)), std::nullopt);
    EXPECT_EQ(numbers.domain(0, first, ContextId()), std::nullopt);
  }
}

// [DHI D22]
TEST(DomainNumbers, AProcessIsNoContext) {
  const DomainNumbers numbers(device_with(2, PasidSpace::kFunction));
  EXPECT_FALSE(numbers.context(DomainId{3}));
  EXPECT_EQ(numbers.domain(1, Pasid{1}, ContextId()), DomainId{3});
  EXPECT_EQ(numbers.domain(1, Pasid{1}, ContextId(ContextKind::kQueuePair, 1)), std::nullopt);
}

}  // namespace
}  // namespace flitwise::domain_numbers_test
