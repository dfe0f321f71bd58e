// SPDX-License-Identifier: Apache-2.0
/// Descriptors of the invalidation queue: what each says, and what makes one an error. [IOM-5.1]
#pragma once

#include <array>
#include <cstdint>
#include <variant>

#include "dhi/handle_types.h"
#include "flitwise/ids.h"
#include "iommu/capabilities.h"

namespace flitwise {

/// Type 1. [IOM-5.2]
struct ContextCacheInvalidation {
  enum class Granularity : std::uint8_t { kGlobal = 1, kDomain = 2, kDevice = 3 };
  Granularity granularity = Granularity::kGlobal;
  std::uint16_t domain = 0;
  Bdf source;
  std::uint8_t function_mask = 0;  ///< FM: that many of the highest function bits do not matter
};

/// Type 2. [IOM-5.3]
struct IotlbInvalidation {
  enum class Granularity : std::uint8_t { kGlobal = 1, kDomain = 2, kPage = 3 };
  Granularity granularity = Granularity::kGlobal;
  bool drains_writes = false, drains_reads = false;
  std::uint16_t domain = 0;
  std::uint8_t address_mask = 0;  ///< AM: log2 of the number of 4 KiB pages
  bool leaf_only = false;         ///< IH: entries above the leaf have not changed
  std::uint64_t address = 0;      ///< bits 63:12
};

/// Types 3 and 8. [IOM-5.4]
struct DeviceTlbInvalidation {
  Bdf source;
  std::uint16_t physical_function = 0;  ///< PFSID
  std::uint8_t queue_depth = 0;         ///< 0 is 32 [IQU-12]
  bool is_sized = false;                ///< S: the size stands in the address, as in ATS
  bool all_pasids = false;              ///< GLOB
  OptionalId<Pasid> pasid;              ///< type 8 only
  std::uint64_t address = 0;            ///< bits 63:12
};

/// Type 4: accepted, there is no interrupt entry cache.
struct InterruptCacheInvalidation {};

/// Type 5. [IOM-5.5]
struct InvalidationWait {
  bool interrupts = false;            ///< IF
  bool writes_status = false;         ///< SW
  bool is_fence = false;              ///< FN
  bool drains_page_requests = false;  ///< PD
  std::uint32_t status = 0;
  std::uint64_t status_address = 0;
};

/// Type 6. [IOM-5.6]
struct PasidIotlbInvalidation {
  enum class Granularity : std::uint8_t { kPasid = 2, kPage = 3 };
  Granularity granularity = Granularity::kPasid;
  std::uint16_t domain = 0;
  Pasid pasid{};
  std::uint8_t address_mask = 0;
  bool leaf_only = false;
  std::uint64_t address = 0;
};

/// Type 7. [IOM-5.7]
struct PasidCacheInvalidation {
  enum class Granularity : std::uint8_t { kDomain = 0, kPasid = 1, kGlobal = 3 };
  Granularity granularity = Granularity::kDomain;
  std::uint16_t domain = 0;
  Pasid pasid{};
};

/// Type 9. [IOM-5.8]
struct PageGroupResponse {
  Bdf source;
  OptionalId<Pasid> pasid;
  std::uint8_t code = 0;    ///< 0 success, 1 invalid request, 15 failure
  std::uint16_t group = 0;  ///< PRGI, 9 bits
};

/// Vendor type: frees device handles, with a completion that is awaited like that of a device-TLB
/// invalidation. [DHI D15, IOM-5.9]
struct HandleInvalidation {
  DeallocScope scope = DeallocScope::kOne;
  Bdf source;  ///< any function of the device; kFunction: that function
  Dhi lower{}, upper{};
};

/// Vendor type: cached page permissions. A range is one of physical addresses. [SEC-05, IOM-5.11]
struct PermissionInvalidation {
  enum class Granularity : std::uint8_t { kGlobal = 1, kDomain = 2, kRange = 3 };
  Granularity granularity = Granularity::kGlobal;
  bool all_domains = false;  ///< a range of every domain, whatever `domain` says
  std::uint16_t domain = 0;
  std::uint8_t address_mask = 0;  ///< AM: log2 of the number of 4 KiB pages
  std::uint64_t address = 0;      ///< bits 63:12
};

/// Why a descriptor stops the queue with FSTS.IQE. The numbers stand in IQER.IQEI (unverified).
enum class DescriptorError : std::uint8_t {
  kStopped = 0,       ///< none: the queue was stopped while it was fetched [IQU-07]
  kInvalidTail = 1,   ///< [IQU-10]
  kFetch = 2,         ///< memory error
  kUnknownType = 3,   ///< [IQU-01]
  kReservedBits = 4,  ///< reserved bits or values [IQU-02, IQU-03]
  kWidth = 5,         ///< a type that needs 256-bit descriptors [IQU-11]
};

using InvalidationDescriptor =
    std::variant<DescriptorError, ContextCacheInvalidation, IotlbInvalidation,
                 DeviceTlbInvalidation, InterruptCacheInvalidation, InvalidationWait,
                 PasidIotlbInvalidation, PasidCacheInvalidation, PageGroupResponse,
                 HandleInvalidation, PermissionInvalidation>;

/// The type of HandleInvalidation: bits 11:9 and 3:0 of the descriptor. model
inline constexpr unsigned kHandleInvalidationType = 0x7d;
/// The type of PermissionInvalidation. model
inline constexpr unsigned kPermissionInvalidationType = 0x7e;

/// The same commands in CCMD, and in the IOTLB register with IVA. A reserved granularity counts as
/// global. [IOM-1.8]
ContextCacheInvalidation context_command_of(std::uint64_t ccmd);
IotlbInvalidation iotlb_command_of(std::uint64_t iotlb, std::uint64_t iva);

/// bytes: 16, or 32 with is_wide. Never fails otherwise than by DescriptorError.
InvalidationDescriptor parse_descriptor(const std::uint8_t* bytes, bool is_wide,
                                        const IommuCapabilities& offers);

/// A descriptor as software writes it: 256 bits.
inline constexpr unsigned kWideDescriptorBytes = 32;
using DescriptorBytes = std::array<std::uint8_t, kWideDescriptorBytes>;
/// What parse_descriptor() reads as the same command; DeviceTlbInvalidation: of type 8 where it
/// names a PASID, else of type 3. REQUIRES: a command, whose fields fit their widths. [IOM-5.4]
DescriptorBytes encode(const InvalidationDescriptor& command);

}  // namespace flitwise
