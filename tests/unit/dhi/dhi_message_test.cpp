// SPDX-License-Identifier: Apache-2.0
// Bits of the DHI messages, and what hostile bytes become.
#include "dhi/dhi_message.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace flitwise::dhi_message_test {
namespace {

constexpr Bdf kDevice = Bdf::of(1, 2, 3);
constexpr Bdf kPort = Bdf::of(0, 1, 0);

struct Written {
  Tlp tlp;
  std::vector<std::uint8_t> payload;
  DhiMessage parse() const { return parse_dhi_message(tlp, payload.data(), payload.size()); }
  DhiMessageError error() const { return std::get<DhiMessageError>(parse()); }
};

AllocMessage full_alloc() {
  AllocMessage message;
  message.dhi = Dhi{0xabc};
  message.identity.bdf = kDevice;
  message.identity.pasid = Pasid{0x54321};
  message.identity.privileged_mode_requested = true;
  message.is_trusted = true;
  message.capabilities = 0xbeef;
  message.epoch = 0x5a;
  return message;
}

Written alloc(const AllocMessage& message = full_alloc()) {
  Written written;
  write_dhi_message(written.tlp, written.payload, kDevice, message);
  return written;
}

Written dealloc(const DeallocMessage& message) {
  Written written;
  write_dhi_message(written.tlp, written.payload, kDevice, message);
  return written;
}

TEST(DhiMessage, D8_AllocIsAnOrderedVendorMessageOfThirtyTwoWireBytes) {
  const Written written = alloc();
  EXPECT_EQ(written.tlp.type, TlpType::kMsgD);
  EXPECT_EQ(written.tlp.message_code, msg::kVendorType1);
  EXPECT_EQ(written.tlp.routing, MsgRouting::kToRootComplex);
  EXPECT_EQ(written.tlp.requester_id, kDevice);
  EXPECT_FALSE(written.tlp.relaxed_ordering);
  EXPECT_FALSE(written.tlp.id_based_ordering);
  EXPECT_EQ(written.tlp.message_dw2, 0x0000'f17dU);
  EXPECT_EQ(written.tlp.message_dw3, 0x1e5a'0abcU);
  EXPECT_EQ(written.payload,
            (std::vector<std::uint8_t>{0x01, 0x13, 0xbe, 0xef, 0x00, 0x05, 0x43, 0x21}));
  EXPECT_EQ(tlp_bytes(written.tlp), 24U);  // and 8 bytes of the data link and physical layers
}

// [DHI-36]
TEST(DhiMessage, D22_AllocOfAContextIsOneDwLongerUnderAnOpcodeOfItsOwn) {
  AllocMessage message = full_alloc();
  message.context = {ContextKind::kSharedWorkQueue, 0x12'3456};
  const Written written = alloc(message);
  EXPECT_EQ(written.tlp.message_dw3, 0x7e5a'0abcU);
  EXPECT_EQ(written.payload, (std::vector<std::uint8_t>{0x01, 0x13, 0xbe, 0xef, 0x00, 0x05, 0x43,
                                                        0x21, 0x30, 0x12, 0x34, 0x56}));
  EXPECT_EQ(tlp_bytes(written.tlp), 28U);
  const auto back = std::get<AllocMessage>(written.parse());
  EXPECT_EQ(back.identity, message.identity);
  EXPECT_EQ(back.context, message.context);
  EXPECT_EQ(back.context.kind(), ContextKind::kSharedWorkQueue);
  EXPECT_EQ(back.context.number(), 0x12'3456U);
  EXPECT_FALSE(std::get<AllocMessage>(alloc().parse()).context);
}

// [DHI-36]
TEST(DhiMessage, D22_AContextThatThereCannotBeIsRefused) {
  AllocMessage message = full_alloc();
  message.context = {ContextKind::kQueuePair, 5};
  const auto with_word = [&](std::uint32_t word) {
    Written written = alloc(message);
    for (unsigned i = 0; i < 4; ++i) {
      written.payload[8 + i] = static_cast<std::uint8_t>(word >> (24 - 8 * i));
    }
    return written.parse();
  };
  for (const std::uint32_t word :
       {0U, 5U, 0x5000'0000U, 0xf000'0001U, 0x1100'0000U, 0x1080'0000U}) {
    const bool is_good = word == 0x1080'0000U;
    EXPECT_EQ(std::holds_alternative<AllocMessage>(with_word(word)), is_good) << word;
  }
  Written without = alloc(message);
  without.payload.resize(8);
  EXPECT_EQ(without.error(), DhiMessageError::kBadLength);
}

TEST(DhiMessage, D11_DeallocOfOneHandleIsTwentyFourWireBytes) {
  const Written written = dealloc({DeallocScope::kOne, Dhi{7}, {}, {}, 2});
  EXPECT_EQ(written.tlp.type, TlpType::kMsg);
  EXPECT_EQ(written.tlp.message_dw3, 0x2002'0007U);
  EXPECT_EQ(tlp_bytes(written.tlp), 16U);
}

TEST(DhiMessage, D8_AllocComesBackAsItWasWritten) {
  AllocMessage message = full_alloc();
  for (const bool has_pasid : {true, false}) {
    if (!has_pasid) {
      message.identity = {};
      message.identity.bdf = kDevice;
    }
    const auto back = std::get<AllocMessage>(alloc(message).parse());
    EXPECT_EQ(back.dhi, message.dhi);
    EXPECT_EQ(back.identity, message.identity);
    EXPECT_EQ(back.is_trusted, message.is_trusted);
    EXPECT_EQ(back.capabilities, message.capabilities);
    EXPECT_EQ(back.epoch, message.epoch);
  }
}

TEST(DhiMessage, D15_EveryScopeOfDeallocComesBack) {
  const DeallocMessage messages[] = {{DeallocScope::kOne, Dhi{4095}, {}, {}, 255},
                                     {DeallocScope::kRange, Dhi{1}, Dhi{4095}, {}, 0},
                                     {DeallocScope::kFunction, {}, {}, Bdf::of(255, 31, 7), 1},
                                     {DeallocScope::kAll, {}, {}, {}, 9}};
  for (const DeallocMessage& message : messages) {
    const auto back = std::get<DeallocMessage>(dealloc(message).parse());
    EXPECT_EQ(back.scope, message.scope);
    EXPECT_EQ(back.dhi, message.dhi);
    EXPECT_EQ(back.upper, message.upper);
    EXPECT_EQ(back.function, message.function);
    EXPECT_EQ(back.epoch, message.epoch);
  }
}

TEST(DhiMessage, D8_D16_AnswersOfTheHostGoByIdAndComeBack) {
  Written ack;
  write_dhi_message(ack.tlp, ack.payload, kPort, AllocAckMessage{Dhi{5}, HandleStatus::kOk, 3},
                    kDevice);
  EXPECT_EQ(ack.tlp.routing, MsgRouting::kById);
  EXPECT_EQ(ack.tlp.message_dw2 >> 16, kDevice.value);
  EXPECT_EQ(std::get<AllocAckMessage>(ack.parse()).dhi, Dhi{5});
  EXPECT_EQ(std::get<AllocAckMessage>(ack.parse()).epoch, 3);
  Written error;
  write_dhi_message(error.tlp, error.payload, kPort,
                    HandleErrorMessage{Dhi{6}, HandleStatus::kNoValidEntry, 3}, kDevice);
  EXPECT_EQ(error.tlp.requester_id, kPort);
  EXPECT_EQ(std::get<HandleErrorMessage>(error.parse()).status, HandleStatus::kNoValidEntry);
  error.tlp.message_dw3 |= 0xfU << 24;
  EXPECT_EQ(std::get<HandleErrorMessage>(error.parse()).status, HandleStatus::kContextNotGranted);
}

Written order(const DeallocOrder& message) {
  Written written;
  write_dhi_message(written.tlp, written.payload, Bdf{}, message, kDevice);
  return written;
}

// [DHI-33]
TEST(DhiMessage, D15_TheHostsDeallocGoesByIdWithATagAndComesBack) {
  const DeallocMessage messages[] = {{DeallocScope::kOne, Dhi{4095}, {}, {}, 255},
                                     {DeallocScope::kRange, Dhi{1}, Dhi{4095}, {}, 0},
                                     {DeallocScope::kFunction, {}, {}, Bdf::of(255, 31, 7), 1},
                                     {DeallocScope::kAll, {}, {}, {}, 9}};
  for (std::uint8_t tag = 0; tag < kDeallocOrders; ++tag) {
    const DeallocMessage& message = messages[tag % 4];
    const Written written = order({message, tag});
    EXPECT_EQ(written.tlp.routing, MsgRouting::kById);
    EXPECT_EQ(written.tlp.message_dw2, 0x0113'f17dU);
    EXPECT_EQ(written.tlp.message_dw3 >> 24 & 0xfU, tag);
    const auto back = std::get<DeallocOrder>(written.parse());
    EXPECT_EQ(back.tag, tag);
    EXPECT_EQ(back.message.scope, message.scope);
    EXPECT_EQ(back.message.dhi, message.dhi);
    EXPECT_EQ(back.message.upper, message.upper);
    EXPECT_EQ(back.message.function, message.function);
    EXPECT_EQ(back.message.epoch, message.epoch);
  }
  EXPECT_EQ(order({messages[0], 10}).tlp.message_dw3, 0x2aff'0fffU);
  EXPECT_EQ(order({messages[1], 10}).payload, (std::vector<std::uint8_t>{0, 0, 0x0f, 0xff}));
}

TEST(DhiMessage, D15_DoneGoesUpWithTagEpochAndStatus) {
  Written done;
  write_dhi_message(done.tlp, done.payload, kDevice,
                    DeallocDone{0xb, HandleStatus::kEpochMismatch, 0x5a});
  EXPECT_EQ(done.tlp.type, TlpType::kMsg);
  EXPECT_EQ(done.tlp.routing, MsgRouting::kToRootComplex);
  EXPECT_EQ(done.tlp.requester_id, kDevice);
  EXPECT_FALSE(done.tlp.relaxed_ordering || done.tlp.id_based_ordering);
  EXPECT_EQ(done.tlp.message_dw3, 0x6b5a'0008U);
  const auto back = std::get<DeallocDone>(done.parse());
  EXPECT_EQ(back.tag, 0xb);
  EXPECT_EQ(back.status, HandleStatus::kEpochMismatch);
  EXPECT_EQ(back.epoch, 0x5a);
  done.tlp.message_dw3 = 0x6b5a'0010;
  EXPECT_EQ(done.error(), DhiMessageError::kReservedBits);
  done.tlp.message_dw3 = 0x6b5a'1000;
  EXPECT_EQ(done.error(), DhiMessageError::kHandleTooWide);
  done.tlp.message_dw3 = 0x6b5a'0000;
  done.tlp.routing = MsgRouting::kById;
  EXPECT_EQ(done.error(), DhiMessageError::kBadRouting);
}

TEST(DhiMessage, PurposeOfThePacketIsSet) {
  PacketPool pool;
  const PacketRef packet = pool.make(PacketKind::kTlp);
  write_dhi_message(*packet, kDevice, full_alloc());
  EXPECT_EQ(packet->purpose, HandlePurpose::kAlloc);
  EXPECT_EQ(packet->payload.size(), 8U);
  write_dhi_message(*packet, kDevice, DeallocMessage{});
  EXPECT_EQ(packet->purpose, HandlePurpose::kDealloc);
  EXPECT_TRUE(packet->payload.empty());
  write_dhi_message(*packet, kPort, AllocAckMessage{}, kDevice);
  EXPECT_EQ(packet->purpose, HandlePurpose::kAck);
  write_dhi_message(*packet, kPort, DeallocOrder{}, kDevice);
  EXPECT_EQ(packet->purpose, HandlePurpose::kDealloc);
  write_dhi_message(*packet, kDevice, DeallocDone{});
  EXPECT_EQ(packet->purpose, HandlePurpose::kAck);
}

TEST(DhiMessage, OthersMessagesAreNotOurs) {
  Written written = alloc();
  EXPECT_TRUE(is_dhi_message(written.tlp));
  written.tlp.message_dw2 = 0x8086;
  EXPECT_FALSE(is_dhi_message(written.tlp));
  EXPECT_EQ(written.error(), DhiMessageError::kNotDhi);
  written = alloc();
  written.tlp.message_code = msg::kVendorType0;
  EXPECT_FALSE(is_dhi_message(written.tlp));
  written = alloc();
  written.tlp.type = TlpType::kMWr;
  EXPECT_FALSE(is_dhi_message(written.tlp));
}

TEST(DhiMessage, EachDefectIsToldApart) {
  const auto with = [](auto change) {
    Written written = alloc();
    change(written);
    return written.error();
  };
  using E = DhiMessageError;
  for (const std::uint32_t opcode : {0U, 10U, 15U}) {
    EXPECT_EQ(with([&](Written& w) { w.tlp.message_dw3 = opcode << 28; }), E::kBadOpcode);
  }
  EXPECT_EQ(with([](Written& w) { w.payload.pop_back(); }), E::kBadLength);
  EXPECT_EQ(with([](Written& w) { w.payload.clear(); }), E::kBadLength);
  EXPECT_EQ(with([](Written& w) { w.tlp.length_dw = 3; }), E::kBadLength);
  EXPECT_EQ(with([](Written& w) { w.tlp.type = TlpType::kMsg; }), E::kBadLength);
  EXPECT_EQ(with([](Written& w) { w.tlp.message_dw3 = 0x2000'0000; }), E::kBadLength);
  EXPECT_EQ(with([](Written& w) { w.tlp.is_poisoned = true; }), E::kPoisoned);
  EXPECT_EQ(with([](Written& w) { w.tlp.relaxed_ordering = true; }), E::kNotOrdered);
  EXPECT_EQ(with([](Written& w) { w.tlp.id_based_ordering = true; }), E::kNotOrdered);
  EXPECT_EQ(with([](Written& w) { w.tlp.routing = MsgRouting::kById; }), E::kBadRouting);
  EXPECT_EQ(with([](Written& w) { w.tlp.routing = MsgRouting::kBroadcast; }), E::kBadRouting);
  EXPECT_EQ(with([](Written& w) { w.tlp.message_dw2 |= 1U << 31; }), E::kReservedBits);
  EXPECT_EQ(with([](Written& w) { w.tlp.id_is_handle = true; }), E::kReservedBits);
  EXPECT_EQ(with([](Written& w) { w.payload[4] = 0x80; }), E::kReservedBits);
  EXPECT_EQ(with([](Written& w) { w.tlp.message_dw3 &= ~(8U << 24); }), E::kReservedBits)
      << "a PASID although PASID is said to be absent";
}

// [DHI-17]
TEST(DhiMessage, HandleWiderThanTwelveBitsIsRefused) {
  Written written = alloc();
  written.tlp.message_dw3 |= 1U << 12;
  EXPECT_EQ(written.error(), DhiMessageError::kHandleTooWide);
  written = dealloc({DeallocScope::kRange, Dhi{1}, Dhi{2}, {}, 0});
  written.payload[2] = 0x10;
  EXPECT_EQ(written.error(), DhiMessageError::kHandleTooWide);
}

TEST(DhiMessage, D15_ReservedPartsOfDeallocAreChecked) {
  Written range = dealloc({DeallocScope::kRange, Dhi{5}, Dhi{4}, {}, 0});
  EXPECT_EQ(range.error(), DhiMessageError::kBadScope);
  range.payload[0] = 1;
  EXPECT_EQ(range.error(), DhiMessageError::kReservedBits);
  Written function = dealloc({DeallocScope::kFunction, {}, {}, kDevice, 0});
  function.payload[3] = 1;
  EXPECT_EQ(function.error(), DhiMessageError::kReservedBits);
  Written all = dealloc({DeallocScope::kAll, {}, {}, {}, 0});
  all.tlp.message_dw3 |= 1;
  EXPECT_EQ(all.error(), DhiMessageError::kReservedBits);
  Written one = dealloc({DeallocScope::kOne, Dhi{5}, {}, {}, 0});
  one.tlp.message_dw3 |= 1U << 24;
  EXPECT_EQ(one.error(), DhiMessageError::kReservedBits);
}

TEST(DhiMessage, MutatedMessagesEitherFailOrSayTheSameWhenWrittenAgain) {
  const std::uint64_t seed = 4711;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  std::uint64_t good = 0;
  for (int i = 0; i < 200'000; ++i) {
    AllocMessage message = full_alloc();
    message.context = i % 4 == 0 ? ContextId{} : ContextId{ContextKind::kQueuePair, 7};
    Written written = i % 2 == 0 ? alloc(message)
                                 : dealloc({static_cast<DeallocScope>(i / 2 % 4), {}, {}, {}, 0});
    for (std::uint64_t flips = random() % 4; flips > 0; --flips) {
      const auto bit = static_cast<unsigned>(random() % 32);
      const std::size_t byte = static_cast<std::size_t>(random() % 16);
      if (byte < written.payload.size()) {
        written.payload[byte] = static_cast<std::uint8_t>(written.payload[byte] ^ (1U << bit % 8));
      } else {
        written.tlp.message_dw3 ^= 1U << bit;
      }
    }
    const DhiMessage read = written.parse();
    if (!std::holds_alternative<AllocMessage>(read) &&
        !std::holds_alternative<DeallocMessage>(read)) {
      continue;
    }
    Written again;
    write_dhi_message(again.tlp, again.payload, kDevice, read);
    ++good;
    ASSERT_EQ(again.tlp.message_dw3, written.tlp.message_dw3);
    ASSERT_EQ(again.payload, written.payload);
  }
  EXPECT_GT(good, 10'000U);
  EXPECT_LT(good, 190'000U);
}

}  // namespace
}  // namespace flitwise::dhi_message_test
