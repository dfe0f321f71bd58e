// SPDX-License-Identifier: Apache-2.0
/// Names of configuration space offsets, ids and bits: the standard register layout as
/// docs/config_space.md maps it.
#pragma once

#include <cstdint>

namespace flitwise::cfg {

inline constexpr std::uint16_t kSpaceBytes = 4096, kExtendedStart = 0x100;

// ---- common header
inline constexpr std::uint16_t kVendorId = 0x00, kCommand = 0x04, kStatus = 0x06,
                               kRevisionClass = 0x08, kHeaderType = 0x0e, kBar0 = 0x10,
                               kCapabilityPointer = 0x34, kInterruptLine = 0x3c;
inline constexpr std::uint32_t kCommandMemorySpace = 1U << 1, kCommandBusMaster = 1U << 2,
                               kCommandParityResponse = 1U << 6, kCommandSerr = 1U << 8,
                               kCommandInterruptDisable = 1U << 10;
inline constexpr std::uint32_t kStatusCapabilityList = 1U << 20;  ///< as seen in the DW at 04h
inline constexpr std::uint8_t kHeaderTypeMask = 0x7f, kHeaderMultiFunction = 0x80;

// ---- type 0
inline constexpr std::uint16_t kSubsystemId = 0x2c;
inline constexpr std::uint32_t kBarPrefetchable64 = 0xc;  ///< [3] prefetchable, [2:1] = 64-bit

// ---- type 1
inline constexpr std::uint16_t kBusNumbers = 0x18, kMemoryWindow = 0x20, kPrefetchWindow = 0x24,
                               kPrefetchBaseUpper = 0x28, kPrefetchLimitUpper = 0x2c,
                               kBridgeControlDw = 0x3c;
inline constexpr std::uint32_t kSecondaryBusReset = 1U << 22;  ///< in the DW at 3Ch

// ---- capability ids
inline constexpr std::uint16_t kCapPowerManagement = 0x01, kCapPcie = 0x10, kCapMsix = 0x11;
inline constexpr std::uint16_t kExtAer = 0x0001, kExtAcs = 0x000d, kExtAri = 0x000e,
                               kExtAts = 0x000f, kExtSriov = 0x0010, kExtPri = 0x0013,
                               kExtPasid = 0x001b, kExtDvsec = 0x0023;

// ---- PCI Express capability: offsets from its start
namespace pcie {
inline constexpr std::uint16_t kCapabilities = 0x00, kDeviceCap = 0x04, kDeviceControl = 0x08,
                               kLinkCap = 0x0c, kLinkControl = 0x10, kRootControl = 0x1c,
                               kDeviceCap2 = 0x24, kDeviceControl2 = 0x28, kLinkCap2 = 0x2c,
                               kLinkControl2 = 0x30;
/// Device/Port Type in the Capabilities register.
enum class PortType : std::uint8_t {
  kEndpoint = 0,
  kRootPort = 4,
  kUpstreamPort = 5,
  kDownstreamPort = 6,
};
inline constexpr std::uint32_t kLinkDisable = 1U << 4,  ///< in the DW of Link Control and Status
    kLinkActive = 1U << 29,                             ///< Data Link Layer Link Active, there
    kLinkActiveReporting = 1U << 20;                    ///< in Link Capabilities
inline constexpr std::uint32_t kCapFlr = 1U << 28, kCapExtendedTag = 1U << 5;
inline constexpr unsigned kSlotPowerShift = 18;               ///< value, 8 bits; scale, 2 bits
inline constexpr std::uint32_t kCapSlotPower = 0x3ffU << 18;  ///< both, as captured
inline constexpr std::uint32_t kReportCorrectable = 1U << 0, kReportNonFatal = 1U << 1,
                               kReportFatal = 1U << 2, kReportUnsupported = 1U << 3,
                               kRelaxedOrdering = 1U << 4, kExtendedTag = 1U << 8,
                               kNoSnoop = 1U << 11, kInitiateFlr = 1U << 15;
inline constexpr unsigned kMpsShift = 5, kMrrsShift = 12;  ///< fields of Device Control, 3 bits
inline constexpr std::uint32_t kStatusCorrectable = 1U << 16, kStatusNonFatal = 1U << 17,
                               kStatusFatal = 1U << 18, kStatusUnsupported = 1U << 19;
inline constexpr std::uint32_t kCap2AriForwarding = 1U << 5, kCap2TenBitCompleter = 1U << 16,
                               kCap2TenBitRequester = 1U << 17, kCap2ExtendedFmt = 1U << 20,
                               kCap2EndEndPrefix = 1U << 21;
inline constexpr std::uint32_t kCap2Atomics = 7U << 7,  ///< completer of 32, 64 and 128 bits
    kCap2AtomicRouting = 1U << 6;
/// DMWr Completer Supported, and [30:29] Lengths Supported 1: up to 128 bytes, which is
/// kMaxDeferrableBytes. Unverified.
inline constexpr std::uint32_t kCap2DeferrableWrites = 1U << 28 | 1U << 29;
inline constexpr std::uint32_t kTimeoutValueMask = 0xf, kTimeoutDisable = 1U << 4,
                               kAriForwarding = 1U << 5, kIdoRequest = 1U << 8,
                               kAtomicEgressBlocking = 1U << 7, kIdoCompletion = 1U << 9,
                               kTenBitRequester = 1U << 12;

/// Code of a size field: 0 for 128 bytes up to 5 for 4096.
constexpr std::uint32_t size_code(unsigned bytes) {
  std::uint32_t code = 0;
  while (code < 5 && 128U << code < bytes) {
    ++code;
  }
  return code;
}
}  // namespace pcie

// ---- AER: offsets from its start
namespace aer {
inline constexpr std::uint16_t kUncorrectableStatus = 0x04, kUncorrectableMask = 0x08,
                               kUncorrectableSeverity = 0x0c, kCorrectableStatus = 0x10,
                               kCorrectableMask = 0x14, kControl = 0x18, kHeaderLog = 0x1c,
                               kRootCommand = 0x2c, kRootStatus = 0x30, kErrorSource = 0x34;
/// Of kControl, beside the First Error Pointer.
inline constexpr std::uint32_t kEcrcGenerationCapable = 1U << 5, kEcrcGenerationEnable = 1U << 6,
                               kEcrcCheckCapable = 1U << 7, kEcrcCheckEnable = 1U << 8;
/// Bit of the uncorrectable registers; those that the model reports.
enum class Uncorrectable : std::uint8_t {
  kPoisonedTlp = 12,
  kCompletionTimeout = 14,
  kCompleterAbort = 15,
  kUnexpectedCompletion = 16,
  kMalformedTlp = 18,
  kEcrc = 19,
  kUnsupportedRequest = 20,
};
/// Bit of the correctable registers, likewise.
enum class Correctable : std::uint8_t {
  kReplayNumRollover = 8,
  kAdvisoryNonFatal = 13,
};
}  // namespace aer

// ---- ACS, ARI, SR-IOV, ATS, PRI, PASID, DVSEC, MSI-X, PM: offsets from their start
namespace acs {
inline constexpr std::uint16_t kControl = 0x04;  ///< DW: capability [15:0], control [31:16]
inline constexpr std::uint32_t kSourceValidation = 1U << 0, kP2pRequestRedirect = 1U << 2,
                               kP2pCompletionRedirect = 1U << 3, kUpstreamForwarding = 1U << 4,
                               kP2pEgressControl = 1U << 5, kDirectTranslatedP2p = 1U << 6;
inline constexpr std::uint16_t kEgressVector = 0x08;  ///< DWs, a bit for each port
inline constexpr unsigned kVectorSizeShift = 8;       ///< in the capability: ports
}  // namespace acs
namespace sriov {
inline constexpr std::uint16_t kControl = 0x08, kInitialTotal = 0x0c, kNumVfs = 0x10,
                               kOffsetStride = 0x14, kVfDeviceId = 0x18, kSupportedPageSizes = 0x1c,
                               kSystemPageSize = 0x20, kVfBar0 = 0x24;
inline constexpr std::uint32_t kVfEnable = 1U << 0, kVfMemorySpace = 1U << 3,
                               kAriHierarchy = 1U << 4, kVfTenBitRequester = 1U << 5;
}  // namespace sriov
namespace ats {
inline constexpr std::uint16_t kControlDw = 0x04;  ///< DW: capability [15:0], control [31:16]
inline constexpr std::uint32_t kQueueDepthMask = 0x1f, kPageAligned = 1U << 5,
                               kGlobalInvalidate = 1U << 6;  // unverified
inline constexpr std::uint32_t kStuMask = 0x1f, kEnable = 1U << 31;
inline constexpr unsigned kStuShift = 16;
}  // namespace ats
namespace pri {
inline constexpr std::uint16_t kControlDw = 0x04,  ///< DW: control [15:0], status [31:16]
    kCapacity = 0x08, kAllocation = 0x0c;
inline constexpr std::uint32_t kEnable = 1U << 0, kReset = 1U << 1, kResponseFailure = 1U << 16,
                               kUnexpectedIndex = 1U << 17, kStopped = 1U << 24,
                               kResponsePasidRequired = 1U << 31;
}  // namespace pri
namespace pasid {
inline constexpr std::uint16_t kControlDw = 0x04;  ///< DW: capability [15:0], control [31:16]
inline constexpr std::uint32_t kExecuteSupported = 1U << 1, kPrivilegedSupported = 1U << 2,
                               kWidthMask = 0x1f, kEnable = 1U << 16;
inline constexpr unsigned kWidthShift = 8;
}  // namespace pasid
namespace dvsec {
inline constexpr std::uint16_t kHeader1 = 0x04, kHeader2 = 0x08;
}
namespace msix {
inline constexpr std::uint16_t kControlDw = 0x00, kTable = 0x04, kPba = 0x08;
inline constexpr std::uint32_t kEnable = 1U << 31, kFunctionMask = 1U << 30;  ///< DW at 00h
}  // namespace msix
namespace pm {
inline constexpr std::uint16_t kControlStatus = 0x04;
}

}  // namespace flitwise::cfg
