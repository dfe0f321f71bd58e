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

}  // namespace
}  // namespace flitwise::domain_numbers_test
