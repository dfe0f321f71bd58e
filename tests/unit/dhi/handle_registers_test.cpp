// SPDX-License-Identifier: Apache-2.0
// The register block of software-managed handles. [DHI D12, D15]
#include "dhi/handle_registers.h"

#include <gtest/gtest.h>

#include "dhi/device_handle_table.h"
#include "dhi/host_handle_table.h"

namespace flitwise::handle_registers_test {
namespace {

namespace reg = handle_register;

std::optional<HandleCommand> command_alloc(HandleRegisters& registers) {
  registers.write(reg::kHandle, 0x123 | reg::kPasidSupported | reg::kTrusted | reg::kEr);
  registers.write(reg::kIdentity, 0xbeef'0102);
  registers.write(reg::kPasid, 0x54321);
  return registers.write(reg::kCommand, reg::kAlloc | (7U << 8));
}

TEST(HandleRegisters, D12_AllocCommandCarriesAllFields) {
  HandleRegisters registers;
  EXPECT_EQ(registers.read(reg::kIdent), reg::kIdentValue);
  const auto command = command_alloc(registers);
  ASSERT_TRUE(command);
  const auto& message = std::get<AllocMessage>(*command);
  EXPECT_EQ(message.dhi, Dhi{0x123});
  EXPECT_EQ(message.identity.bdf, Bdf{0x0102});
  EXPECT_EQ(message.identity.pasid, Pasid{0x54321});
  EXPECT_FALSE(message.identity.privileged_mode_requested);
  EXPECT_TRUE(message.identity.execute_requested);
  EXPECT_TRUE(message.is_trusted);
  EXPECT_EQ(message.capabilities, 0xbeef);
  EXPECT_EQ(message.epoch, 7);
  EXPECT_EQ(registers.read(reg::kCommand), 0U);
  EXPECT_EQ(registers.read(reg::kPasid), 0x54321U);
}

// [DHI-36]
TEST(HandleRegisters, D22_AllocTakesAContextFromUpper) {
  HandleRegisters registers;
  registers.write(reg::kUpper, 0x2000'0009);
  const auto command = command_alloc(registers);
  ASSERT_TRUE(command);
  EXPECT_EQ(std::get<AllocMessage>(*command).context,
            ContextId(ContextKind::kDedicatedWorkQueue, 9));
}

TEST(HandleRegisters, D12_BusyUntilTheCommandIsDone) {
  HandleRegisters registers;
  ASSERT_TRUE(command_alloc(registers));
  EXPECT_TRUE(registers.is_busy());
  EXPECT_FALSE(registers.write(reg::kCommand, reg::kDeallocAll)) << "one at a time";
  EXPECT_TRUE(registers.is_busy());
  registers.finish(HandleStatus::kTrustNotGranted);
  EXPECT_FALSE(registers.is_busy());
  EXPECT_EQ(registers.read(reg::kStatus), reg::kBadCommand | 5U) << "the second command was lost";
  ASSERT_TRUE(registers.write(reg::kCommand, reg::kDeallocAll));
  registers.finish(HandleStatus::kOk);
  EXPECT_EQ(registers.read(reg::kStatus), 0U);
}

TEST(HandleRegisters, D15_DeallocOfOneSomeAFunctionOrAll) {
  HandleRegisters registers;
  registers.write(reg::kHandle, 4);
  registers.write(reg::kUpper, 9);
  registers.write(reg::kIdentity, 0x0203);
  const auto message = [&](std::uint32_t code) {
    const auto command = registers.write(reg::kCommand, code);
    registers.finish(HandleStatus::kOk);
    return std::get<DeallocMessage>(command.value());
  };
  EXPECT_EQ(message(reg::kDeallocOne).scope, DeallocScope::kOne);
  EXPECT_EQ(message(reg::kDeallocOne).dhi, Dhi{4});
  EXPECT_EQ(message(reg::kDeallocRange).scope, DeallocScope::kRange);
  EXPECT_EQ(message(reg::kDeallocRange).upper, Dhi{9});
  EXPECT_EQ(message(reg::kDeallocFunction).scope, DeallocScope::kFunction);
  EXPECT_EQ(message(reg::kDeallocFunction).function, Bdf{0x0203});
  EXPECT_EQ(message(reg::kDeallocAll).scope, DeallocScope::kAll);
  EXPECT_EQ(message(reg::kDeallocAll).function, Bdf{0x0203});
}

// [DHI-17]
TEST(HandleRegisters, D12_BadCommandsAreFlaggedAndDoNothing) {
  const auto is_refused = [](std::uint32_t handle, std::uint32_t pasid, std::uint32_t upper,
                             std::uint32_t command) {
    HandleRegisters registers;
    registers.write(reg::kHandle, handle);
    registers.write(reg::kPasid, pasid);
    registers.write(reg::kUpper, upper);
    const bool is_none = !registers.write(reg::kCommand, command);
    return is_none && registers.read(reg::kStatus) == reg::kBadCommand;
  };
  EXPECT_TRUE(is_refused(0, 0, 0, 0));
  EXPECT_TRUE(is_refused(0, 0, 0, 6));
  EXPECT_TRUE(is_refused(0, 0, 0, reg::kAlloc | 0x10));
  EXPECT_TRUE(is_refused(0, 0, 0, reg::kAlloc | 0x1'0000));
  EXPECT_TRUE(is_refused(0x1000, 0, 0, reg::kAlloc)) << "thirteen bits";
  EXPECT_TRUE(is_refused(1U << 20, 0, 0, reg::kAlloc)) << "a reserved flag";
  EXPECT_TRUE(is_refused(0, 5, 0, reg::kAlloc)) << "a PASID although PASID is said to be absent";
  EXPECT_TRUE(is_refused(reg::kPmr, 0, 0, reg::kAlloc));
  EXPECT_TRUE(is_refused(reg::kPasidSupported, 1U << 20, 0, reg::kAlloc));
  EXPECT_TRUE(is_refused(0, 0, 0x5000'0000, reg::kAlloc)) << "no kind of context";
  EXPECT_TRUE(is_refused(0x1000, 0, 0, reg::kDeallocOne));
  EXPECT_TRUE(is_refused(5, 0, 4, reg::kDeallocRange));
  EXPECT_TRUE(is_refused(5, 0, 0x1000, reg::kDeallocRange));
  EXPECT_FALSE(is_refused(0, 0, 0, reg::kAlloc));
}

TEST(HandleRegisters, UnknownOffsetsReadZeroAndTakeNoWrites) {
  HandleRegisters registers;
  EXPECT_FALSE(registers.write(0x100, 0xffff'ffff));
  EXPECT_FALSE(registers.write(reg::kStatus, 0xffff'ffff));
  EXPECT_EQ(registers.read(0x100), 0U);
  EXPECT_EQ(registers.read(reg::kStatus), 0U);
}

// [DHI-32]
TEST(HandleRegisters, D12_TheSameCommandsAtBothEndsMakeTablesThatAgree) {
  DeviceHandleTableConfig config;
  config.range = HandleRange::of_bits(10);
  config.management = HandleManagement::kSoftware;
  config.epoch = 7;
  DeviceHandleTable device(config);
  Grant trusting = Grant::any();
  trusting.trusted = true;
  trusting.capabilities = 0xbeef;
  const GrantTable grants(trusting);
  HostHandleTable host(DeallocMode::kImplicit, grants);
  host.add_partition({{1, 1}, config.range, 7});
  HandleRegisters at_device;
  HandleRegisters at_host;
  const auto at_one = std::get<AllocMessage>(command_alloc(at_device).value());
  const auto at_other = std::get<AllocMessage>(command_alloc(at_host).value());
  EXPECT_EQ(device.install(DomainId{0}, at_one), HandleStatus::kOk);
  EXPECT_EQ(host.allocate({1, 1}, at_other.identity.bdf, at_other), HandleStatus::kOk);
  EXPECT_EQ(device.resolve(Dhi{0x123})->identity, host.resolve(Dhi{0x123})->identity);
  EXPECT_TRUE(host.resolve(Dhi{0x123})->is_trusted);
}

}  // namespace
}  // namespace flitwise::handle_registers_test
