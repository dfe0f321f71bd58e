// SPDX-License-Identifier: Apache-2.0
// Which TLPs go translated and which transfers wait, between stand-ins for tags, handles and link.
// Catalogue ids in the names.
#include "endpoint/translated_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ats/translation_completion.h"
#include "model/endpoint/device_fakes.h"
#include "tlp/splitter.h"

namespace flitwise::translated_path_test {
namespace {

using test::FakeEvents;
using test::FakeHandles;
using test::FakeOutput;
using test::FakeTags;
using test::RunningFunctions;
using testing::ElementsAre;
using testing::Pair;
using Step = Translations::Step;

constexpr std::uint64_t kPage = 0x1000;
constexpr std::uint64_t kTranslated = 0x8000'0000;
const Time kPipeline = DeviceConfig().timing.pipeline;

/// One function with PASID 0, whose ATC is on, and a Page Request Interface that is off.
class TranslatedPathTest : public testing::Test {
 protected:
  explicit TranslatedPathTest(unsigned group_pages = 1) : group_pages_(group_pages) {
    TranslationSettings settings;
    settings.is_enabled = settings.has_pasid = true;
    path_.unit().set_pasid(true);
    path_.unit().configure(0, settings);
  }
  static EndpointConfig config(unsigned group_pages = 1) {
    EndpointConfig config;
    config.device = test::device_of(1);
    config.device.pri.group_pages = group_pages;
    config.device.functions.has_pasid = true;
    config.device.atc.enabled = true;
    config.link.identity = Identity::kBdfPasid;
    return config;
  }
  /// The next TLP of a transfer that an engine has just given.
  Step route(std::uint32_t slot, std::uint64_t address, Op op = Op::kRead, Time now = {}) {
    Transfer transfer;
    transfer.op = op;
    transfer.address = address;
    transfer.bytes = 64;
    TransferCursor cursor;
    cursor.transfer = slot;
    cursor.splitter = RequestSplitter(address, 64, 128);
    cursor.splitter.next(cursor.piece);
    path_.begun(transfer, slot, now);
    return path_.route(transfer, identity_, cursor, now).step;
  }
  /// One that had waited goes on; nullopt: none does.
  std::optional<std::uint32_t> resume(Time now) {
    TransferCursor cursor;
    if (path_.next(cursor, now) != NextTransfer::kSend) {
      return std::nullopt;
    }
    Transfer transfer = resumed_;
    transfer.op = Op::kRead;
    step_ = path_.route(transfer, identity_, cursor, now).step;
    piece_ = cursor.piece;
    return cursor.transfer;
  }
  /// The TLP of the present transfer as it leaves.
  Tlp leaving() {
    Tlp tlp;
    tlp.type = TlpType::kMRd;
    tlp.address = piece_.address;
    path_.apply_route(tlp, identity_, piece_);
    path_.piece_gone(false);
    return tlp;
  }
  void answer(std::size_t index, Time now, bool grants = true) {
    TranslationEntry entry;
    entry.translated = kTranslated;
    entry.read = entry.write = grants;
    PacketRef packet = pool_.make(PacketKind::kTlp);
    packet->payload.resize(8);
    store_reply(packet->payload.data(), &entry, 1);
    CompletionPiece piece;
    TranslationReply(1, 64).next(piece);
    packet->tlp = translation_cpld(tags_.translations.at(index).request->tlp, piece);
    path_.complete(0, *packet, tags_.translations.at(index), now);
  }
  void answer_with(CplStatus status, Time now) {
    const Tlp& request = tags_.translations.at(0).request->tlp;
    PacketRef packet = pool_.make(PacketKind::kTlp);
    start_completion(packet->tlp, request);
    end_without_data(packet->tlp, request, status);
    path_.complete(0, *packet, tags_.translations.at(0), now);
  }
  bool invalidate(std::uint64_t address, std::uint8_t itag) {
    InvalidateRequest request;
    request.function = Bdf::of(1, 0, 0);
    request.itag = itag;
    request.range = PageRange::around(address, 12);
    request.pasid = Pasid{0};
    PacketRef packet = pool_.make(PacketKind::kTlp);
    packet->payload.resize(kInvalidateBodyBytes);
    packet->tlp = invalidate_request_tlp(request, packet->payload.data());
    return path_.receive(*packet, 0, nullptr, Time{});
  }
  std::vector<std::uint8_t> messages() const {
    std::vector<std::uint8_t> codes;
    for (const FakeOutput::Sent& one : output_.sent) {
      if (is_message(one.packet->tlp.type)) {
        codes.push_back(one.packet->tlp.message_code);
      }
    }
    return codes;
  }

  const unsigned group_pages_;
  Transfer resumed_;
  PacketPool pool_;
  PacketSizer sizer_{LinkConfig(), MessageConfig(), 8};
  RunningFunctions functions_{config().device};
  RequestControl control_{128, 128, false, false};
  FakeOutput output_;
  FakeTags tags_;
  FakeHandles handles_;
  FakeEvents events_;
  PageRequestInterface pages_{{8, true, true}};
  const DeviceIdentity identity_{Bdf::of(1, 0, 0), Pasid{0}, false, false};
  TranslatedPath path_{config(group_pages_),
                       {pool_, sizer_, functions_, control_, output_, events_},
                       &pages_,
                       tags_,
                       handles_};
  Step step_ = Step::kGo;
  RequestPiece piece_;
};

TEST_F(TranslatedPathTest, ATR_10_AMissAsksForThePageAndTheTransferWaits) {
  EXPECT_EQ(route(7, 3 * kPage + 0x40), Step::kParked);
  ASSERT_EQ(output_.sent.size(), 1U);
  EXPECT_EQ(output_.tlp(0).at, AddressType::kTranslationRequest);
  EXPECT_EQ(output_.tlp(0).address, 3 * kPage);
  EXPECT_EQ(output_.tlp(0).pasid, Pasid{0});
  EXPECT_EQ(resume(Time::from_us(1)), std::nullopt);

  answer(0, Time::from_us(1));
  EXPECT_THAT(tags_.closed, ElementsAre(1U));
  EXPECT_EQ(resume(Time::from_us(1)), std::nullopt) << "the reply is not at the ATC";
  ASSERT_EQ(resume(Time::from_us(1) + kPipeline), 7U);
  EXPECT_EQ(step_, Step::kGo);
  const Tlp tlp = leaving();
  EXPECT_EQ(tlp.at, AddressType::kTranslated);
  EXPECT_EQ(tlp.address, kTranslated + 0x40);
  EXPECT_TRUE(path_.unit().parked.empty());
}

TEST_F(TranslatedPathTest, ATR_27_AnInterruptIsNeverTranslated) {
  EXPECT_EQ(route(0, 0xfee0'0000, Op::kMsi), Step::kGo);
  EXPECT_TRUE(output_.sent.empty());
  Tlp tlp;
  tlp.address = 0xfee0'0000;
  path_.apply_route(tlp, identity_, piece_);
  EXPECT_EQ(tlp.at, AddressType::kUntranslated);
}

TEST_F(TranslatedPathTest, OneRequestIsEnoughForAllTransfersThatMissThePage) {
  EXPECT_EQ(route(0, kPage), Step::kParked);
  EXPECT_EQ(route(1, kPage + 0x80), Step::kParked);
  EXPECT_EQ(output_.sent.size(), 1U);
  answer(0, Time{});
  EXPECT_EQ(resume(kPipeline), 0U);
  leaving();
  EXPECT_EQ(resume(kPipeline), 1U);
}

TEST_F(TranslatedPathTest, LNK_9_8_ATranslationRequestWaitsForATag) {
  tags_.free = 0;
  EXPECT_EQ(route(0, kPage), Step::kParked);
  EXPECT_TRUE(output_.sent.empty());
  EXPECT_EQ(resume(Time{}), std::nullopt);
  tags_.free = 1;
  EXPECT_EQ(resume(Time{}), 0U);
  EXPECT_EQ(step_, Step::kParked) << "for its reply";
  EXPECT_EQ(output_.sent.size(), 1U);
}

TEST_F(TranslatedPathTest, TCP_06_AnAbortedRequestFailsAllThatWaitForIt) {
  route(0, kPage);
  route(1, kPage);
  answer_with(CplStatus::kCA, Time{});
  EXPECT_THAT(tags_.failed, ElementsAre(Pair(0U, TransferStatus::kCompleterAbort),
                                        Pair(1U, TransferStatus::kCompleterAbort)));
  EXPECT_THAT(events_.counted,
              ElementsAre("translation_aborted", "translation_failed", "translation_failed"));
  EXPECT_TRUE(path_.unit().parked.empty());
}

TEST_F(TranslatedPathTest, ATR_25_ARequestWithoutAnswerFailsItsTransfers) {
  route(0, kPage);
  path_.give_up(0, tags_.translations[0], Time{});
  EXPECT_THAT(tags_.failed, ElementsAre(Pair(0U, TransferStatus::kTimeout)));
  EXPECT_THAT(events_.counted, ElementsAre("translation_failed"));
  EXPECT_THAT(handles_.let_go_given_up, ElementsAre(true));
}

TEST_F(TranslatedPathTest, DHI_D9_ARequestWaitsForItsHandle) {
  handles_.answer.outcome = Handles::Outcome::kWait;
  EXPECT_EQ(route(0, kPage), Step::kWait);
  EXPECT_TRUE(output_.sent.empty());
}

TEST_F(TranslatedPathTest, INV_04_AnInvalidationIsAnsweredAfterTheLastReadByItsTranslation) {
  route(0, kPage);
  answer(0, Time{});
  ASSERT_EQ(resume(kPipeline), 0U);
  path_.read_opened(0, 5, false);
  const Tlp read = leaving();
  ASSERT_TRUE(invalidate(kPage, 3));
  EXPECT_TRUE(messages().empty());
  path_.read_ended(0, 5, read, TransferStatus::kDone, Time{});
  EXPECT_THAT(messages(), ElementsAre(msg::kInvalidateCompletion));
}

TEST_F(TranslatedPathTest, INV_19_AnInvalidationTakesTheTranslationAtOnce) {
  route(0, kPage);
  answer(0, Time{});
  ASSERT_EQ(resume(kPipeline), 0U);
  leaving();
  ASSERT_TRUE(invalidate(kPage, 3));
  EXPECT_THAT(messages(), ElementsAre(msg::kInvalidateCompletion));
  EXPECT_EQ(route(1, kPage), Step::kParked);
  EXPECT_EQ(tags_.translations.size(), 2U);
}

TEST_F(TranslatedPathTest, CFG_03_AFunctionInResetAnswersNoInvalidation) {
  functions_.begin_reset(0, ResetKind::kFunctionLevel);
  EXPECT_TRUE(invalidate(kPage, 3));
  EXPECT_TRUE(messages().empty());
  EXPECT_EQ(events_.messages, 1U);
}

TEST_F(TranslatedPathTest, PRI_01_WithoutPermissionThePageIsAskedForOnce) {
  pages_.write_allocation(4);
  pages_.write_control(true, false);
  route(0, kPage);
  answer(0, Time{}, false);
  ASSERT_EQ(resume(kPipeline), 0U);
  EXPECT_EQ(step_, Step::kParked);
  EXPECT_THAT(messages(), ElementsAre(msg::kPageRequest));
  PrgResponse response;
  response.function = Bdf::of(1, 0, 0);
  response.pasid = Pasid{0};
  PacketRef packet = pool_.make(PacketKind::kTlp);
  packet->tlp = prg_response_tlp(response);
  EXPECT_TRUE(path_.receive(*packet, 0, nullptr, kPipeline));
  EXPECT_EQ(resume(kPipeline * 2), 0U) << "it asks for its translation again";
  EXPECT_EQ(tags_.translations.size(), 2U);
}

struct PageGroupTest : TranslatedPathTest {
  PageGroupTest() : TranslatedPathTest(3) {
    pages_.write_allocation(4);
    pages_.write_control(true, false);
  }
  // A transfer from this address on misses its first page, which is not there.
  void miss(std::uint32_t slot, std::uint64_t address, std::uint32_t bytes) {
    resumed_.address = address;
    resumed_.bytes = bytes;
    route(slot, address);
    answer(tags_.translations.size() - 1, Time{}, false);
    ASSERT_EQ(resume(kPipeline), slot);
    ASSERT_EQ(step_, Step::kParked);
  }
  std::vector<std::uint64_t> pages_asked_for() const {
    std::vector<std::uint64_t> pages;
    for (const FakeOutput::Sent& one : output_.sent) {
      if (is_message(one.packet->tlp.type)) {
        const PageRequest request = page_request_of(one.packet->tlp);
        pages.push_back(request.page | (request.is_last ? 1U : 0U));
      }
    }
    return pages;
  }
};

TEST_F(PageGroupTest, PRI_27_AGroupHasThePagesThatATransferWillNeed) {
  miss(0, kPage + 0x800, 0x1000);
  EXPECT_THAT(pages_asked_for(), ElementsAre(kPage, (2 * kPage) | 1));
}

TEST_F(PageGroupTest, PRI_27_AGroupIsAsLongAsConfiguredAndAsCreditsReach) {
  miss(0, kPage, 0x8000);
  miss(1, 16 * kPage, 0x8000);
  EXPECT_THAT(pages_asked_for(), ElementsAre(kPage, 2 * kPage, (3 * kPage) | 1, (16 * kPage) | 1));
}

TEST_F(PageGroupTest, PRI_27_WhoMissesAPageOfAGroupWaitsWithIt) {
  miss(0, kPage, 0x3000);
  miss(1, 3 * kPage, 64);
  EXPECT_EQ(pages_asked_for().size(), 3U);
  miss(2, 4 * kPage, 64);
  EXPECT_EQ(pages_asked_for().size(), 4U);
  PrgResponse response;
  response.function = Bdf::of(1, 0, 0);
  response.pasid = Pasid{0};
  PacketRef packet = pool_.make(PacketKind::kTlp);
  packet->tlp = prg_response_tlp(response);
  EXPECT_TRUE(path_.receive(*packet, 0, nullptr, kPipeline));
  EXPECT_EQ(resume(kPipeline * 2), 0U);
  EXPECT_EQ(resume(kPipeline * 2), 1U) << "it was of the group";
  EXPECT_EQ(resume(kPipeline * 2), std::nullopt);
}

TEST_F(TranslatedPathTest, PRI_06_AStopMarkerFollowsTheLastTransferOfItsContext) {
  pages_.write_allocation(4);
  pages_.write_control(true, false);
  route(0, kPage);
  path_.end_context(DomainId{0}, true, Time{});
  EXPECT_TRUE(messages().empty()) << "a transfer may still ask for a page";
  answer(0, Time{});
  ASSERT_EQ(resume(kPipeline), 0U);
  leaving();
  path_.transfer_gone(kPipeline);
  EXPECT_THAT(messages(), ElementsAre(msg::kPageRequest));
}

TEST_F(TranslatedPathTest, CFG_04_AResetForgetsStopMarkersThatAreDue) {
  pages_.write_allocation(4);
  pages_.write_control(true, false);
  route(0, kPage);
  path_.end_context(DomainId{0}, true, Time{});
  path_.forget(0);
  path_.piece_gone(false);
  path_.transfer_gone(Time{});
  EXPECT_TRUE(messages().empty());
}

/// Firmware whose answers the test has set.
struct FakeFirmware final : StaticTranslations {
  StructureAccess access(const StructureBytes& bytes) override {
    asked.push_back(bytes.address);
    return next;
  }
  void begin(const StructureBytes& /*bytes*/, std::uint32_t /*token*/) override { ++begun; }
  void end(unsigned /*function*/, StaticStructure /*structure*/) override { ++ended; }
  void answered(std::uint32_t request, const TranslationEntry* entry, Time /*now*/) override {
    answers.emplace_back(request, entry == nullptr ? 0 : entry->translated);
  }
  void invalidated(unsigned /*function*/, unsigned itag, const PageRange& /*range*/,
                   const InvalidationScope& /*scope*/, Time /*now*/) override {
    itags.push_back(itag);
  }
  void enabled(unsigned /*function*/, bool is_enabled, Time /*now*/) override {
    is_running = is_enabled;
  }
  StructureAccess next;
  std::vector<std::uint64_t> asked;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> answers;
  std::vector<unsigned> itags;
  unsigned begun = 0, ended = 0;
  bool is_running = false;
};

class StaticPathTest : public TranslatedPathTest {
 protected:
  StaticPathTest() { path_.statics().attach(firmware_); }
  Step route_static(std::uint32_t slot, Op op = Op::kRead) {
    transfer_.op = op;
    transfer_.address = 5 * kPage;
    transfer_.bytes = 64;
    transfer_.structure = StaticStructure::kCq;
    cursor_.transfer = slot;
    cursor_.splitter = RequestSplitter(transfer_.address, 64, 128);
    cursor_.splitter.next(cursor_.piece);
    path_.begun(transfer_, slot, Time{});
    piece_ = cursor_.piece;
    return path_.route(transfer_, identity_, cursor_, Time{}).step;
  }
  static StructureAccess at_host(std::uint64_t address) {
    return {StructureAccess::Verdict::kGo, AddressType::kTranslated, address};
  }
  FakeFirmware firmware_;
  Transfer transfer_;
  TransferCursor cursor_;
};

TEST_F(StaticPathTest, EP_5_AStructureGoesByItsRegisterAndNoAtcIsAsked) {
  firmware_.next = at_host(kTranslated + 0x40);
  EXPECT_EQ(route_static(1), Step::kGo);
  Tlp tlp = leaving();
  EXPECT_EQ(tlp.at, AddressType::kTranslated);
  EXPECT_EQ(tlp.address, kTranslated + 0x40);
  firmware_.next = {StructureAccess::Verdict::kGo, AddressType::kUntranslated, 5 * kPage};
  EXPECT_EQ(route_static(2), Step::kGo);
  tlp = leaving();
  EXPECT_EQ(tlp.at, AddressType::kUntranslated);
  EXPECT_EQ(tlp.address, 5 * kPage);
  EXPECT_EQ(firmware_.begun, 2U);
  EXPECT_THAT(output_.sent, testing::IsEmpty()) << "a Translation Request";
}

TEST_F(StaticPathTest, EP_C13_NoRequestLeavesForWhatLiesBeyondAStructure) {
  firmware_.next = {StructureAccess::Verdict::kFault, AddressType::kUntranslated, 0};
  EXPECT_EQ(route_static(4), Step::kParked);
  EXPECT_THAT(tags_.failed, ElementsAre(Pair(4U, TransferStatus::kUnsupportedRequest)));
  EXPECT_THAT(events_.counted, ElementsAre("beyond_structure"));
  EXPECT_EQ(firmware_.begun, 0U);
  EXPECT_TRUE(path_.unit().parked.empty());
}

// It goes on when the address is there, by the new one.
TEST_F(StaticPathTest, EP_C9_AnAccessWaitsForAnAddressThatIsCleared) {
  firmware_.next = {StructureAccess::Verdict::kWait, AddressType::kUntranslated, 0};
  EXPECT_EQ(route_static(4), Step::kParked);
  EXPECT_EQ(resume(Time::from_us(1)), std::nullopt);
  EXPECT_THAT(tags_.failed, testing::IsEmpty());
  path_.statics().try_again(Time::from_us(2));
  EXPECT_EQ(resume(Time::from_us(2)), 4U);
}

// One completion for the ATC and the firmware, behind the last read by either.
TEST_F(StaticPathTest, EP_C7_AnInvalidationIsAnsweredBehindReadsOfStructures) {
  firmware_.next = at_host(kTranslated);
  EXPECT_EQ(route_static(1), Step::kGo);
  const Tlp read = leaving();
  path_.read_opened(0, 9, false);
  EXPECT_TRUE(invalidate(5 * kPage, 3));
  EXPECT_THAT(firmware_.itags, ElementsAre(3U));
  EXPECT_THAT(messages(), testing::IsEmpty());
  path_.read_ended(0, 9, read, TransferStatus::kDone, Time::from_us(1));
  EXPECT_EQ(firmware_.ended, 1U);
  EXPECT_THAT(messages(), ElementsAre(msg::kInvalidateCompletion));
}

// A write stands in the posted queue before any completion: it is over at once.
TEST_F(StaticPathTest, EP_7_AWriteOfAStructureIsInFrontOfTheCompletion) {
  firmware_.next = at_host(kTranslated);
  EXPECT_EQ(route_static(1, Op::kWrite), Step::kGo);
  Tlp tlp;
  tlp.type = TlpType::kMWr;
  path_.apply_route(tlp, identity_, piece_);
  path_.piece_gone(false);
  EXPECT_EQ(firmware_.begun, 1U);
  EXPECT_EQ(firmware_.ended, 1U);
  EXPECT_TRUE(invalidate(5 * kPage, 0));
  EXPECT_THAT(messages(), ElementsAre(msg::kInvalidateCompletion));
}

TEST_F(StaticPathTest, EP_3_TheFirmwareAsksByATranslationRequestOfItsFunction) {
  ASSERT_TRUE(path_.statics().ask(DomainId{0}, 5 * kPage, 6, true, Time{}));
  ASSERT_EQ(output_.sent.size(), 1U);
  EXPECT_EQ(output_.tlp(0).at, AddressType::kTranslationRequest);
  EXPECT_EQ(output_.tlp(0).address, 5 * kPage);
  answer(0, Time::from_us(1));
  EXPECT_THAT(firmware_.answers, ElementsAre(Pair(6U, kTranslated)));
  EXPECT_THAT(tags_.closed, ElementsAre(1U));
}

// The ATC stays on, whatever becomes of it.
TEST_F(StaticPathTest, EP_6_AnErrorIsAnAnswerWithoutATranslation) {
  ASSERT_TRUE(path_.statics().ask(DomainId{0}, 5 * kPage, 6, true, Time{}));
  answer_with(CplStatus::kUR, Time::from_us(1));
  EXPECT_THAT(firmware_.answers, ElementsAre(Pair(6U, 0U)));
  EXPECT_THAT(events_.counted, ElementsAre("translation_unsupported"));
  ASSERT_TRUE(path_.statics().ask(DomainId{0}, 5 * kPage, 2, true, Time{}));
  path_.give_up(0, tags_.translations.at(1), Time::from_us(2));
  EXPECT_THAT(firmware_.answers, ElementsAre(Pair(6U, 0U), Pair(2U, 0U)));
  EXPECT_EQ(route(7, 3 * kPage), Step::kParked) << "the ATC asks";
}

}  // namespace
}  // namespace flitwise::translated_path_test
