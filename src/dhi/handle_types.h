// SPDX-License-Identifier: Apache-2.0
/// Small nouns that both ends of a link share when they speak of device handles.
#pragma once

#include <cstdint>

#include "common/ranges.h"
#include "flitwise/ids.h"

namespace flitwise {

inline constexpr unsigned kMinHandleBits = 2;
inline constexpr unsigned kMaxHandleBits = 12;
/// A handle field is wider than any legal handle, so that one out of width can be told apart.
inline constexpr std::uint16_t kHandleMask = (1U << kMaxHandleBits) - 1;

/// Capability bits that the host knows. model: translated requests (AT 2); atomics and deferrable
/// writes. Others stand for nothing, and nobody is granted them. [DHI D20]
inline constexpr std::uint16_t kCapabilityTranslated = 1U << 0, kCapabilityAtomics = 1U << 1;
inline constexpr std::uint16_t kKnownCapabilities = kCapabilityTranslated | kCapabilityAtomics;

/// Contiguous handles of one device, both bounds inside. [DHI D2, D6]
struct HandleRange {
  Dhi lower{};
  Dhi upper{};
  constexpr bool contains(Dhi dhi) const {
    return to_int(dhi) >= to_int(lower) && to_int(dhi) <= to_int(upper);
  }
  /// Number of handles; 0 when the bounds are the wrong way round.
  constexpr unsigned size() const {
    return to_int(upper) >= to_int(lower) ? to_int(upper) - to_int(lower) + 1U : 0U;
  }
  /// The i-th handle. REQUIRES: i < size().
  constexpr Dhi at(unsigned i) const { return Dhi{static_cast<std::uint16_t>(to_int(lower) + i)}; }
  /// 0 .. 2^bits-1. REQUIRES: 2 <= bits <= 12.
  static constexpr HandleRange of_bits(unsigned bits) {
    return {Dhi{0}, Dhi{static_cast<std::uint16_t>((1U << bits) - 1U)}};
  }
  /// What a device has whose handles are off.
  static constexpr HandleRange none() { return {Dhi{1}, Dhi{0}}; }
  /// What two ranges have in common; empty where they are apart.
  constexpr HandleRange common(HandleRange other) const {
    return {to_int(lower) > to_int(other.lower) ? lower : other.lower,
            to_int(upper) < to_int(other.upper) ? upper : other.upper};
  }
  friend constexpr bool operator==(HandleRange a, HandleRange b) {
    return a.lower == b.lower && a.upper == b.upper;
  }
};

/// Buses below a port: secondary..subordinate, both inside. [DHI D14]
struct BusRange {
  std::uint8_t secondary = 0;
  std::uint8_t subordinate = 0;
  constexpr bool contains(Bdf bdf) const {
    return bdf.bus() >= secondary && bdf.bus() <= subordinate;
  }
};

/// Why something about a handle was refused; kOk is no refusal. The numbers stand on the wire (4
/// bits) in ALLOC_ACK and ERROR. [DHI D14, D16, S3]
enum class HandleStatus : std::uint8_t {
  kOk = 0,
  kBusOutsidePort = 1,        ///< bus not in secondary..subordinate of the port
  kRequesterMismatch = 2,     ///< BDF of the ALLOC is not the Requester ID it came with
  kHandleOutOfRange = 3,      ///< handle outside the range of that Requester ID
  kPasidNotGranted = 4,       ///< PASID (or going without one) beyond the grant
  kTrustNotGranted = 5,       ///< trusted bit beyond the grant
  kCapabilityNotGranted = 6,  ///< capability bits beyond the grant
  kHandleInUse = 7,           ///< explicit mode: ALLOC over a valid handle [DHI D11]
  kEpochMismatch = 8,         ///< one side was reset alone [DHI D4]
  kNoValidEntry = 9,          ///< handle without valid entry [DHI D16]
  kFunctionNotGranted = 10,   ///< no grant for that BDF
  kMalformed = 11,            ///< the message could not be read
  kHandleBusy = 12,           ///< device end: requests of the handle are incomplete [DHI D10]
  kDomainHasHandle = 13,      ///< device end: the domain already has another handle
  kNotSoftwareManaged = 14,   ///< device end: software's ALLOC in device-managed mode [DHI D12]
  kContextNotGranted = 15,    ///< context beyond the grant
};
inline constexpr int kHandleStatuses = 16;
/// "bus_outside_port", ...: keys of the result.
inline const char* name_of(HandleStatus status) {
  static constexpr const char* kNames[] = {"ok",
                                           "bus_outside_port",
                                           "requester_mismatch",
                                           "handle_out_of_range",
                                           "pasid_not_granted",
                                           "trust_not_granted",
                                           "capability_not_granted",
                                           "handle_in_use",
                                           "epoch_mismatch",
                                           "no_valid_entry",
                                           "function_not_granted",
                                           "malformed",
                                           "handle_busy",
                                           "domain_has_handle",
                                           "not_software_managed",
                                           "context_not_granted"};
  return name_in(kNames, status);
}

/// Contents of DHI ALLOC. [DHI D8]
struct AllocMessage {
  Dhi dhi{};
  DeviceIdentity identity;
  bool is_trusted = false;
  std::uint16_t capabilities = 0;
  std::uint8_t epoch = 0;
  ContextId context{};  ///< of the process, where the handle names one [DHI D22]
};

/// What one DEALLOC covers. [DHI D15]
enum class DeallocScope : std::uint8_t { kOne, kRange, kFunction, kAll };

/// Contents of DHI DEALLOC. [DHI D11, D15]
struct DeallocMessage {
  DeallocScope scope = DeallocScope::kOne;
  Dhi dhi{};       ///< kOne: the handle; kRange: the lowest; else 0
  Dhi upper{};     ///< kRange: the highest; else 0
  Bdf function{};  ///< kFunction: whose handles; kAll from software: any function of the device;
                   ///< else 0
  std::uint8_t epoch = 0;

  /// The handles that it speaks of, among all that a device has.
  constexpr HandleRange handles(HandleRange all) const {
    return scope == DeallocScope::kOne     ? HandleRange{dhi, dhi}
           : scope == DeallocScope::kRange ? HandleRange{dhi, upper}
                                           : all;
  }
};

/// DEALLOCs of the host that may be out to a device at once, and that a device takes while none is
/// answered: their tags have four bits. [DHI D15] model
inline constexpr unsigned kDeallocOrders = 16;

/// Host to device: give these handles up, and say so under the tag. [DHI D15]
struct DeallocOrder {
  DeallocMessage message;
  std::uint8_t tag = 0;  ///< below kDeallocOrders
};

/// Device to host: none of the handles is used any more (kOk), or why nothing was done. [DHI D15]
struct DeallocDone {
  std::uint8_t tag = 0;  ///< of the order
  HandleStatus status = HandleStatus::kOk;
  std::uint8_t epoch = 0;  ///< of the order
};

/// Host to device: the ALLOC of this handle was applied (kOk) or refused. [DHI D8]
struct AllocAckMessage {
  Dhi dhi{};
  HandleStatus status = HandleStatus::kOk;
  std::uint8_t epoch = 0;
};

/// Host to device: a posted message was refused. [DHI D16]
struct HandleErrorMessage {
  Dhi dhi{};
  HandleStatus status = HandleStatus::kNoValidEntry;
  std::uint8_t epoch = 0;
};

}  // namespace flitwise
