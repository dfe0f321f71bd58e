// SPDX-License-Identifier: Apache-2.0
// What each kind of switch does with handles and with foreign identities. [DHI D23] [DHI S1]
#include "dhi/dhi_message.h"
#include "model/switch/switch_fixture.h"

namespace flitwise::handles_test {
namespace {

Config legacy(bool source_validation) {
  Config config = SwitchBench::handle_config();
  config.system.switch_mode = SwitchMode::kLegacy;
  config.system.acs.source_validation = source_validation;
  return config;
}

TEST(SwitchHandles, D23_AHandleOfThePortsOwnRangePasses) {
  SwitchBench bench;
  bench.down[1]->send(bench.with_handle(TlpType::kMWr, 20));
  bench.run();
  EXPECT_EQ(bench.up.got.size(), 1U);
  EXPECT_TRUE(bench.sw.errors().empty());
}

TEST(SwitchHandles, S1_AHandleOfAnotherDeviceIsDroppedAndCounted) {
  SwitchBench bench;
  EXPECT_TRUE(bench.down[0]->send(bench.with_handle(TlpType::kMWr, 20)));
  bench.run();
  EXPECT_TRUE(bench.up.got.empty());
  EXPECT_EQ(bench.sw.errors().at("foreign_handle"), 1U);
}

TEST(SwitchHandles, S1_AReadWithAHandleOfAnotherDeviceIsAnsweredWithUrThatEchoesIt) {
  SwitchBench bench;
  bench.down[0]->send(bench.with_handle(TlpType::kMRd, 20));
  bench.run();
  EXPECT_TRUE(bench.up.got.empty());
  ASSERT_EQ(bench.down[0]->got.size(), 1U);
  const Tlp& answer = bench.down[0]->got[0]->tlp;
  EXPECT_EQ(answer.status, CplStatus::kUR);
  EXPECT_EQ(answer.requester_id, Bdf{20});
  EXPECT_TRUE(answer.id_is_handle);
}

// [DHI D16] [DHI D23]
TEST(SwitchHandles, D23_ACompletionThatEchoesAHandleGoesDownThePortOfItsRange) {
  SwitchBench bench;
  for (const std::uint16_t handle : std::initializer_list<std::uint16_t>{5, 20, 40}) {
    bench.up.send(bench.with_handle(TlpType::kCpl, handle));
  }
  bench.up.send(bench.make(TlpType::kCpl, Bdf::of(4, 0, 0)));  // in full, as ever
  bench.run();
  ASSERT_EQ(bench.down[0]->got.size(), 1U);
  EXPECT_EQ(bench.down[0]->got[0]->tlp.requester_id, Bdf{5});
  EXPECT_EQ(bench.down[1]->got.size(), 2U);
  EXPECT_EQ(bench.sw.errors().at("unexpected_completion.no_handle"), 1U);
}

// [DHI D21] [DHI D23] [DHI-39]
TEST(SwitchHandles, D23_AMessageOfADomainGoesDownThePortOfItsHandle) {
  SwitchBench bench;
  for (const std::uint16_t handle : std::initializer_list<std::uint16_t>{5, 20, 40}) {
    PacketRef response = bench.make(TlpType::kMsg, Bdf{});
    response->tlp.routing = MsgRouting::kById;
    response->tlp.message_code = msg::kPrgResponse;
    response->tlp.message_dw2 = std::uint32_t{handle} << 16;
    response->tlp.id_is_handle = true;
    bench.up.send(response);
  }
  bench.run();
  EXPECT_EQ(bench.down[0]->got.size(), 1U);
  EXPECT_EQ(bench.down[1]->got.size(), 1U);
  EXPECT_EQ(bench.sw.errors().at("unsupported_request.no_handle"), 1U);
}

// What stands in DW2 of such a message is no name of its sender. [DHI S1] [DHI D23]
TEST(SwitchHandles, S1_AMessageWithAHandleFromAForeignRequesterIdIsDropped) {
  SwitchBench bench;
  PacketRef response = bench.make(TlpType::kMsg, Bdf{});  // as from the root complex
  response->tlp.routing = MsgRouting::kById;
  response->tlp.message_code = msg::kPrgResponse;
  response->tlp.message_dw2 = 5U << 16;
  response->tlp.id_is_handle = true;
  bench.down[0]->send(response);
  bench.run();
  EXPECT_TRUE(bench.up.got.empty());
  EXPECT_TRUE(bench.down[1]->got.empty());
  EXPECT_EQ(bench.sw.errors().at("acs_violation"), 1U);
}

TEST(SwitchHandles, D23_AnErrorOfTheSwitchItselfGoesToTheFunctionThatAllocatedTheHandle) {
  SwitchBench bench;
  const auto acs = *bench.sw.config_space(0).find_extended(cfg::kExtAcs);
  bench.sw.configure(0, static_cast<std::uint16_t>(acs + cfg::acs::kControl),
                     cfg::acs::kSourceValidation << 16);  // no Upstream Forwarding
  const Bdf function = Bdf::of(3, 0, 2);
  PacketRef alloc = bench.pool.make(PacketKind::kTlp);
  AllocMessage message;
  message.dhi = Dhi{5};
  message.identity.bdf = function;
  write_dhi_message(*alloc, function, message);
  bench.down[0]->send(alloc);
  PacketRef read = bench.with_handle(TlpType::kMRd, 5);
  read->tlp.is_4dw = true;
  read->tlp.address = bench.set_up.windows[0].base;  // back to the sender: nobody takes it
  bench.down[0]->send(read);
  bench.run();
  ASSERT_EQ(bench.down[0]->got.size(), 1U);
  EXPECT_EQ(bench.down[0]->got[0]->tlp.requester_id, function);
  EXPECT_FALSE(bench.down[0]->got[0]->tlp.id_is_handle);
  EXPECT_EQ(bench.up.types(), std::vector<TlpType>{TlpType::kMsgD});
}

TEST(SwitchHandles, D23_APeerToPeerRequestWithAHandleGoesUpEvenWithoutRedirectInAcs) {
  SwitchBench bench;
  const auto acs = bench.sw.config_space(0).find_extended(cfg::kExtAcs);
  bench.sw.configure(0, static_cast<std::uint16_t>(*acs + cfg::acs::kControl),
                     cfg::acs::kSourceValidation << 16);
  for (const bool has_handle : {true, false}) {
    PacketRef write = has_handle ? bench.with_handle(TlpType::kMWr, 3) : bench.make(TlpType::kMWr);
    write->tlp.is_4dw = true;
    write->tlp.address = bench.set_up.windows[1].base;
    bench.down[0]->send(write);
  }
  bench.run();
  EXPECT_EQ(bench.up.got.size(), 1U);
  EXPECT_EQ(bench.down[1]->got.size(), 1U);  // the one in full goes across
}

TEST(SwitchHandles, S1_AForeignRequesterIdIsDroppedOrAnsweredWithCompleterAbort) {
  SwitchBench bench;
  bench.down[0]->send(bench.make(TlpType::kMWr, Bdf::of(4, 0, 0)));
  bench.down[0]->send(bench.make(TlpType::kMRd, Bdf::of(4, 0, 0)));
  bench.run();
  EXPECT_TRUE(bench.up.got.empty());
  EXPECT_EQ(bench.sw.errors().at("acs_violation"), 2U);
  ASSERT_EQ(bench.down[0]->got.size(), 1U);
  EXPECT_EQ(bench.down[0]->got[0]->tlp.status, CplStatus::kCA);
  EXPECT_TRUE(bench.down[1]->got.empty());
}

TEST(SwitchHandles, S1_ALegacySwitchTakesAHandleForABusAndDropsIt) {
  SwitchBench bench(legacy(true));
  bench.down[0]->send(bench.with_handle(TlpType::kMWr, 20));
  bench.down[0]->send(bench.with_handle(TlpType::kMWr, 3));  // its own handles fare no better
  bench.run();
  EXPECT_TRUE(bench.up.got.empty());
  EXPECT_EQ(bench.sw.errors().at("acs_violation"), 2U);
}

TEST(SwitchHandles, S1_ALegacySwitchWithSourceValidationLeaksAHandleThatLooksLikeItsBus) {
  SwitchBench bench(legacy(true));
  bench.down[0]->send(bench.with_handle(TlpType::kMWr, 0x301));
  bench.run();
  EXPECT_EQ(bench.up.got.size(), 1U);
  EXPECT_EQ(bench.sw.errors().at("unchecked_handle"), 1U);
}

TEST(SwitchHandles, S1_ALegacySwitchWithoutSourceValidationLeaksEveryHandle) {
  SwitchBench bench(legacy(false));
  for (std::uint16_t handle = 0; handle < 32; ++handle) {
    bench.down[0]->send(bench.with_handle(TlpType::kMWr, handle));
  }
  bench.run();
  EXPECT_EQ(bench.up.got.size(), 32U);
  EXPECT_EQ(bench.sw.errors().at("unchecked_handle"), 32U);
}

}  // namespace
}  // namespace flitwise::handles_test
