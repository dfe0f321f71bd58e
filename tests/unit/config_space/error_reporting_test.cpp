// SPDX-License-Identifier: Apache-2.0
// Which errors are told of, and as what. [LNK-12.6] to [LNK-12.9]
#include <gtest/gtest.h>

#include "config_space/capabilities.h"
#include "unit/config_space/support.h"

namespace flitwise::error_reporting_test {
namespace {

using test::extended_at;
using test::pcie_at;

ConfigSpace function() {
  ConfigSpace space = ConfigSpace::type0({}, {});
  space.add(pcie_capability({}));
  space.add(aer_capability(false));
  return space;
}

TEST(ErrorReporting, LNK_12_8_AnUnsupportedRequestIsToldOfWithUrreAndTheEnableOfItsSeverity) {
  using cfg::pcie::kReportFatal;
  using cfg::pcie::kReportNonFatal;
  using cfg::pcie::kReportUnsupported;
  struct Row {
    std::uint32_t enables;
    bool has_serr, is_told, is_told_if_fatal;
  };
  for (const Row& row :
       std::initializer_list<Row>{{0, false, false, false},
                                  {kReportNonFatal | kReportFatal, false, false, false},
                                  {kReportUnsupported, false, false, false},
                                  {kReportUnsupported | kReportNonFatal, false, true, false},
                                  {kReportUnsupported | kReportFatal, false, false, true},
                                  {0, true, true, true}}) {
    ConfigSpace space = function();
    space.write(pcie_at(space, cfg::pcie::kDeviceControl), row.enables);
    space.write(cfg::kCommand, row.has_serr ? cfg::kCommandSerr : 0U);
    const FoundError found{cfg::aer::Uncorrectable::kUnsupportedRequest};
    EXPECT_EQ(report_error(space, found).has_value(), row.is_told) << row.enables;
    const std::uint32_t status = space.read(pcie_at(space, cfg::pcie::kDeviceControl)) >> 16;
    EXPECT_EQ(status & 0xfU, 0xaU) << "non-fatal, unsupported";
    space.write(extended_at(space, cfg::kExtAer, cfg::aer::kUncorrectableSeverity), 1U << 20);
    EXPECT_EQ(report_error(space, found).has_value(), row.is_told_if_fatal) << row.enables;
    space.write(extended_at(space, cfg::kExtAer, cfg::aer::kUncorrectableMask), 1U << 20);
    EXPECT_EQ(report_error(space, found), std::nullopt) << "masked";
  }
}

TEST(ErrorReporting, LNK_12_9_AnAdviceIsMaskedAfterResetAndLeavesNoUncorrectableStatus) {
  ConfigSpace space = function();
  const std::uint16_t control = pcie_at(space, cfg::pcie::kDeviceControl);
  space.write(control, cfg::pcie::kReportCorrectable | cfg::pcie::kReportUnsupported);
  const FoundError found{cfg::aer::Uncorrectable::kUnsupportedRequest, {1, 2, 3, 4}, true};
  EXPECT_EQ(report_error(space, found), std::nullopt);
  EXPECT_EQ(space.read(extended_at(space, cfg::kExtAer, cfg::aer::kCorrectableStatus)), 1U << 13);
  EXPECT_EQ(space.read(extended_at(space, cfg::kExtAer, cfg::aer::kUncorrectableStatus)), 0U);
  EXPECT_EQ(space.read(extended_at(space, cfg::kExtAer, cfg::aer::kHeaderLog)), 0U);
  EXPECT_EQ(space.read(control) >> 16 & 0xfU, 0x9U) << "correctable, unsupported";
}

TEST(ErrorReporting, LNK_12_9_AnAdviceIsErrCorWithItsHeaderInTheLog) {
  struct Row {
    std::uint32_t enables;
    bool is_told;
  };
  for (const Row& row : std::initializer_list<Row>{
           {cfg::pcie::kReportCorrectable | cfg::pcie::kReportUnsupported, true},
           {cfg::pcie::kReportCorrectable, false},
           {cfg::pcie::kReportUnsupported | cfg::pcie::kReportNonFatal, false}}) {
    ConfigSpace space = function();
    space.write(pcie_at(space, cfg::pcie::kDeviceControl), row.enables);
    space.write(cfg::kCommand, cfg::kCommandSerr);  // of no use to correctable errors
    space.write(extended_at(space, cfg::kExtAer, cfg::aer::kCorrectableMask), 0);
    const FoundError found{cfg::aer::Uncorrectable::kUnsupportedRequest, {1, 2, 3, 4}, true};
    const auto told = report_error(space, found);
    EXPECT_EQ(told, row.is_told ? std::optional<std::uint8_t>(msg::kErrCor) : std::nullopt);
    EXPECT_EQ(space.read(extended_at(space, cfg::kExtAer, cfg::aer::kUncorrectableStatus)),
              1U << 20);
    EXPECT_EQ(space.read(extended_at(space, cfg::kExtAer, cfg::aer::kHeaderLog)), 1U);
  }
}

TEST(ErrorReporting, LNK_12_9_WhatIsFatalIsNoAdvice) {
  ConfigSpace space = function();
  space.write(cfg::kCommand, cfg::kCommandSerr);
  space.write(extended_at(space, cfg::kExtAer, cfg::aer::kUncorrectableSeverity), 1U << 16);
  EXPECT_EQ(report_error(space, {cfg::aer::Uncorrectable::kUnexpectedCompletion, {}, true}),
            msg::kErrFatal);
  EXPECT_EQ(space.read(extended_at(space, cfg::kExtAer, cfg::aer::kCorrectableStatus)), 0U);
}

TEST(ErrorReporting, LNK_12_9_WhoIsAnsweredJudges) {
  using cfg::aer::Uncorrectable;
  EXPECT_TRUE(is_advisory(Uncorrectable::kUnsupportedRequest, FcClass::kNonPosted));
  EXPECT_FALSE(is_advisory(Uncorrectable::kUnsupportedRequest, FcClass::kPosted));
  EXPECT_TRUE(is_advisory(Uncorrectable::kCompleterAbort, FcClass::kNonPosted));
  EXPECT_TRUE(is_advisory(Uncorrectable::kUnexpectedCompletion, FcClass::kCompletion));
  EXPECT_FALSE(is_advisory(Uncorrectable::kPoisonedTlp, FcClass::kNonPosted));
  EXPECT_FALSE(is_advisory(Uncorrectable::kCompletionTimeout, FcClass::kNonPosted));
  EXPECT_FALSE(is_advisory(Uncorrectable::kEcrc, FcClass::kNonPosted));
}

// The log goes with the write that clears the first error, not with the next error.
TEST(ErrorReporting, LNK_12_13_ClearingTheFirstErrorClearsPointerAndLog) {
  using cfg::aer::Uncorrectable;
  ConfigSpace space = function();
  const std::uint16_t status = extended_at(space, cfg::kExtAer, cfg::aer::kUncorrectableStatus);
  const std::uint16_t control = extended_at(space, cfg::kExtAer, cfg::aer::kControl);
  const std::uint16_t log = extended_at(space, cfg::kExtAer, cfg::aer::kHeaderLog);
  report_error(space, {Uncorrectable::kUnsupportedRequest, {1, 2, 3, 4}});
  report_error(space, {Uncorrectable::kPoisonedTlp, {5, 6, 7, 8}});
  space.write(status, 1U << 12);  // the second one: the first still stands
  EXPECT_EQ(space.read(control) & 0x1f, 20U);
  EXPECT_EQ(space.read(log), 1U);
  report_error(space, {Uncorrectable::kPoisonedTlp, {5, 6, 7, 8}});
  space.write(status, 1U << 20);
  EXPECT_EQ(space.read(status), 1U << 12) << "the second one still stands";
  EXPECT_EQ(space.read(control) & 0x1f, 0U);
  for (unsigned dw = 0; dw < 4; ++dw) {
    EXPECT_EQ(space.read(static_cast<std::uint16_t>(log + 4 * dw)), 0U) << dw;
  }
  report_error(space, {Uncorrectable::kMalformedTlp, {9, 10, 11, 12}});
  EXPECT_EQ(space.read(control) & 0x1f, 18U);
  EXPECT_EQ(space.read(log), 9U);
}

TEST(ErrorReporting, LNK_12_9_APoisonedRequestIsNoAdvice) {
  using cfg::aer::Uncorrectable;
  Tlp tlp;
  tlp.type = TlpType::kFetchAdd;
  EXPECT_TRUE(is_advisory(Uncorrectable::kUnsupportedRequest, tlp));
  tlp.is_poisoned = true;
  EXPECT_FALSE(is_advisory(Uncorrectable::kUnsupportedRequest, tlp));
  tlp.type = TlpType::kMRd;  // without data EP says nothing
  EXPECT_TRUE(is_advisory(Uncorrectable::kUnsupportedRequest, tlp));
  tlp.type = TlpType::kCplD;
  EXPECT_TRUE(is_advisory(Uncorrectable::kUnexpectedCompletion, tlp));
}

TEST(ErrorReporting, LNK_12_6_EcrcIsCapableAndEnabledWhereItIsSupported) {
  for (const bool has_ecrc : {false, true}) {
    ConfigSpace space = ConfigSpace::type0({}, {});
    space.add(pcie_capability({}));
    space.add(aer_capability(false, has_ecrc));
    const std::uint16_t at = extended_at(space, cfg::kExtAer, cfg::aer::kControl);
    EXPECT_EQ(space.read(at), has_ecrc ? 0xa0U : 0U);
    EXPECT_EQ(space.write(at, 0x140).ecrc_control_changed, has_ecrc);
    EXPECT_EQ(ecrc_control(space).generates, has_ecrc);
    EXPECT_EQ(ecrc_control(space).checks, has_ecrc);
    space.reset(ResetKind::kConventional);
    EXPECT_EQ(space.read(at), has_ecrc ? 0x1e0U : 0U);
    space.write(at, 0x100);
    EXPECT_FALSE(ecrc_control(space).generates);
  }
}

TEST(ErrorReporting, LNK_12_7_EcrcCheckFailedIsBit19AndNonFatalAfterReset) {
  ConfigSpace space = function();
  space.write(cfg::kCommand, cfg::kCommandSerr);
  EXPECT_EQ(report_error(space, {cfg::aer::Uncorrectable::kEcrc}), msg::kErrNonFatal);
  EXPECT_EQ(space.read(extended_at(space, cfg::kExtAer, cfg::aer::kUncorrectableStatus)), 0x80000U);
}

}  // namespace
}  // namespace flitwise::error_reporting_test
