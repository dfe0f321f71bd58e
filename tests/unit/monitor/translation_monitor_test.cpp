// SPDX-License-Identifier: Apache-2.0
// What a watcher of translations sees of a device that keeps one too long, or makes one up.
#include "monitor/translation_monitor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ats/translation_completion.h"
#include "ats/translation_request.h"
#include "unit/monitor/monitor_support.h"

namespace flitwise::translation_monitor_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Bdf kFunction = Bdf::of(1, 0, 0), kOther = Bdf::of(1, 0, 1);
constexpr std::uint64_t kGuest = 0x10'0000, kHost = 0x80'0000;

class TranslationMonitorTest : public ::testing::Test {
 protected:
  PacketRef ask(std::uint16_t tag, std::uint64_t address = kGuest, Bdf function = kFunction) {
    TranslationAsk wanted;
    wanted.address = address;
    TranslationSettings settings;
    settings.is_enabled = true;
    PacketRef request = pool_.make(PacketKind::kTlp);
    request->tlp = translation_request_tlp(wanted, settings, function);
    request->tlp.tag = tag;
    monitor_.sent(*request, {});
    return request;
  }
  void answer(const PacketRef& request, std::uint64_t host = kHost, unsigned bits = 12) {
    TranslationEntry entry;
    entry.translated = host;
    entry.size_bits = static_cast<std::uint8_t>(bits);
    entry.read = entry.write = true;
    PacketRef packet = pool_.make(PacketKind::kTlp);
    packet->payload.resize(8);
    store_reply(packet->payload.data(), &entry, 1);
    CompletionPiece piece;
    TranslationReply(1, 64).next(piece);
    packet->tlp = translation_cpld(request->tlp, piece);
    monitor_.delivered(*packet);
  }
  void invalidate(std::uint8_t itag, std::uint64_t address = kGuest, Bdf function = kFunction) {
    InvalidateRequest request;
    request.function = function;
    request.itag = itag;
    request.range = PageRange::around(address, 12);
    PacketRef packet = pool_.make(PacketKind::kTlp);
    packet->payload.resize(kInvalidateBodyBytes);
    packet->tlp = invalidate_request_tlp(request, packet->payload.data());
    monitor_.delivered(*packet);
  }
  void complete(std::uint32_t itags, Bdf function = kFunction) {
    InvalidateCompletion completion;
    completion.function = function;
    completion.itag_vector = itags;
    PacketRef packet = pool_.make(PacketKind::kTlp);
    packet->tlp = invalidate_completion_tlp(completion);
    monitor_.sent(*packet, {});
  }
  void access(std::uint64_t host, Bdf function = kFunction) {
    const PacketRef read = test::packet(pool_, TlpType::kMRd, 16, host);
    read->tlp.requester_id = function;
    read->tlp.at = AddressType::kTranslated;
    read->tlp.first_be = read->tlp.last_be = 0xf;
    monitor_.sent(*read, {});
  }

  void line(cxl::D2hReq opcode, std::uint16_t cqid, std::uint64_t host) {
    const PacketRef packet = pool_.make(PacketKind::kCxl);
    packet->cxl->channel = CxlChannel::kD2hReq;
    packet->cxl->opcode = static_cast<std::uint8_t>(opcode);
    packet->cxl->id = cqid;
    packet->cxl->address = host;
    monitor_.sent_message(*packet, {});
  }
  void answer_line(cxl::H2dRsp opcode, std::uint16_t cqid) {
    const PacketRef packet = pool_.make(PacketKind::kCxl);
    packet->cxl->channel = CxlChannel::kH2dRsp;
    packet->cxl->opcode = static_cast<std::uint8_t>(opcode);
    packet->cxl->id = cqid;
    monitor_.delivered_message(*packet);
  }

  PacketPool pool_;
  test::Reported reported_;
  TranslationMonitor monitor_{reported_.reporter};
};

TEST_F(TranslationMonitorTest, EP_7_ATranslationMayBeUsedUntilItsInvalidationIsAnswered) {
  answer(ask(1));
  access(kHost + 0xfc0);
  invalidate(3);
  access(kHost);
  EXPECT_THAT(reported_.rules(), IsEmpty());
  complete(1U << 3);
  access(kHost);
  EXPECT_THAT(reported_.rules(), ElementsAre("EP-7"));
}

TEST_F(TranslationMonitorTest, EP_7_OneThatWasAskedForBehindTheInvalidationIsNew) {
  const PacketRef before = ask(1);
  invalidate(0);
  const PacketRef behind = ask(2);
  answer(behind);
  complete(1);
  access(kHost);
  EXPECT_THAT(reported_.rules(), IsEmpty());
  answer(before, kHost + 0x1000);  // it is late, and must be discarded
  access(kHost + 0x1000);
  EXPECT_THAT(reported_.rules(), ElementsAre("EP-7"));
}

TEST_F(TranslationMonitorTest, EP_7_OthersKeepTheirs) {
  answer(ask(1));
  answer(ask(2, kGuest + 0x1000), kHost + 0x1000);
  answer(ask(1, kGuest, kOther), kHost);
  invalidate(0);
  complete(1, kOther);  // which had nothing to answer
  access(kHost);
  complete(1);
  access(kHost + 0x1000);
  access(kHost, kOther);
  EXPECT_THAT(reported_.rules(), IsEmpty());
}

TEST_F(TranslationMonitorTest, CXL_7_12_ACacheGoesWhereATranslationLeads) {
  line(cxl::D2hReq::kRdShared, 0, 0x123'0000);  // the device has no use for ATS
  answer(ask(1));
  line(cxl::D2hReq::kRdOwn, 1, kHost + 0xfc0);
  EXPECT_THAT(reported_.rules(), IsEmpty());
  line(cxl::D2hReq::kRdOwn, 2, kHost + 0x1000);
  EXPECT_THAT(reported_.rules(), ElementsAre("CXL-7.12"));
}

TEST_F(TranslationMonitorTest, CXL_7_12_EvictionsNeedNone) {
  answer(ask(1));
  invalidate(3);
  complete(1U << 3);
  line(cxl::D2hReq::kDirtyEvict, 1, kHost);
  line(cxl::D2hReq::kCleanEvictNoData, 2, kHost + 0x40);
  EXPECT_THAT(reported_.rules(), IsEmpty());
  line(cxl::D2hReq::kRdShared, 3, kHost);
  EXPECT_THAT(reported_.rules(), ElementsAre("CXL-7.12"));
}

TEST_F(TranslationMonitorTest, INV_04_AnInvalidationWaitsForLines) {
  answer(ask(1));
  answer(ask(2, kGuest + 0x1000), kHost + 0x1000);
  line(cxl::D2hReq::kRdShared, 1, kHost);
  line(cxl::D2hReq::kWoWrInv, 2, kHost + 0x40);
  line(cxl::D2hReq::kRdShared, 3, kHost + 0x1000);
  invalidate(3);
  answer_line(cxl::H2dRsp::kGo, 1);
  answer_line(cxl::H2dRsp::kWritePull, 2);
  answer_line(cxl::H2dRsp::kExtCmp, 2);
  complete(1U << 3);
  EXPECT_THAT(reported_.rules(), IsEmpty());
  invalidate(4, kGuest + 0x1000);
  complete(1U << 4);
  EXPECT_THAT(reported_.rules(), ElementsAre("INV-04"));
}

TEST_F(TranslationMonitorTest, INV_04_NewTranslationsAndOthersOfThePageHoldNothingUp) {
  answer(ask(1));
  invalidate(3);
  answer(ask(2));
  line(cxl::D2hReq::kRdShared, 1, kHost);  // by the new one
  complete(1U << 3);
  answer(ask(1, kGuest + 0x5000), kHost);  // leads there too
  line(cxl::D2hReq::kRdShared, 2, kHost);
  invalidate(4);
  complete(1U << 4);
  EXPECT_THAT(reported_.rules(), IsEmpty());
}

TEST_F(TranslationMonitorTest, EP_7_NobodyMakesOneUp) {
  answer(ask(1), kHost, 21);
  access(kHost + 0x1f'ffc0);
  EXPECT_THAT(reported_.rules(), IsEmpty());
  access(kHost + 0x20'0000);
  access(kHost, kOther);
  EXPECT_THAT(reported_.rules(), ElementsAre("EP-7", "EP-7"));
}

}  // namespace
}  // namespace flitwise::translation_monitor_test
