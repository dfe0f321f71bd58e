// SPDX-License-Identifier: Apache-2.0
// Whose a domain of the device is, and what its handle stands for.
#include "endpoint/device_functions.h"

#include <gtest/gtest.h>

namespace flitwise::device_functions_test {
namespace {

constexpr Bdf kBase = Bdf::of(1, 0, 0);

/// Two functions, three queue pairs of a process.
DeviceFunctions functions_of(HandleContexts contexts, ContextKind kind = ContextKind::kQueuePair) {
  DeviceConfig device;
  device.functions.count = 2;
  device.functions.context_kind = kind;
  device.functions.contexts_per_process = 3;
  device.dhi.contexts = contexts;
  DeviceFunctions functions(device, 12);
  functions.set_base(kBase);
  return functions;
}

// [DHI D22] [DHI-38]
TEST(DeviceFunctions, D22_EachContextHoldsAHandleOfItsOwn) {
  const DeviceFunctions functions = functions_of(HandleContexts::kOwn);
  EXPECT_FALSE(functions.are_processes());
  for (std::uint32_t i = 0; i < 12; ++i) {
    const DomainId domain{i};
    EXPECT_EQ(functions.holder_of(domain), domain);
    EXPECT_EQ(functions.context_of(domain), ContextId(ContextKind::kQueuePair, i / 2));
    EXPECT_EQ(functions.domain_of(functions.identity_of(domain), functions.context_of(domain)),
              domain);
  }
  EXPECT_FALSE(functions.domain_of(DeviceIdentity(kBase, Pasid{0}), ContextId()));
  EXPECT_FALSE(
      functions.domain_of(DeviceIdentity(kBase, Pasid{0}), ContextId(ContextKind::kQueuePair, 3)))
      << "of PASID 1";
}

// [DHI D22] [DHI-38]
TEST(DeviceFunctions, D22_OrTheProcessHoldsOneForAll) {
  const DeviceFunctions functions = functions_of(HandleContexts::kShared);
  for (std::uint32_t i = 0; i < 12; ++i) {
    const DomainId domain{i}, first{i / 6 * 6 + i % 2};
    EXPECT_EQ(functions.holder_of(domain), first);
    EXPECT_FALSE(functions.context_of(domain));
    EXPECT_EQ(functions.domain_of(functions.identity_of(domain), ContextId()), first);
  }
  EXPECT_FALSE(
      functions.domain_of(DeviceIdentity(kBase, Pasid{0}), ContextId(ContextKind::kQueuePair, 0)));
}

TEST(DeviceFunctions, AProcessIsItsOwnHolder) {
  for (const HandleContexts contexts : {HandleContexts::kOwn, HandleContexts::kShared}) {
    const DeviceFunctions functions = functions_of(contexts, ContextKind::kProcess);
    EXPECT_TRUE(functions.are_processes());
    EXPECT_EQ(functions.holder_of(DomainId{5}), DomainId{5});
    EXPECT_FALSE(functions.context_of(DomainId{5}));
    EXPECT_EQ(functions.domain_of(functions.identity_of(DomainId{5}), ContextId()), DomainId{5});
  }
}

}  // namespace
}  // namespace flitwise::device_functions_test
